fabricast run $SCENARIOS/hello.yaml --seeds none --no-db
