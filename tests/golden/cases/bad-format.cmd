fabricast run $SCENARIOS/hello.yaml --format jsn
