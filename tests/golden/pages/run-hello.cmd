fabricast run $SCENARIOS/hello.yaml
