fabricast run $SCENARIOS/learn/05-latency.yaml --no-db
