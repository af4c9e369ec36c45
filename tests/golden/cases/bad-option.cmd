fabricast run $SCENARIOS/hello.yaml --fromat json
