fabricast size $SCENARIOS/hello.yaml
