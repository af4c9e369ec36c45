fabricast run $SCENARIOS/hello.yaml --iterations 0
