fabricast run $SCENARIOS/hello.yaml --format json
