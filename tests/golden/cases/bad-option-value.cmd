fabricast run $SCENARIOS/hello.yaml --iterations ten
