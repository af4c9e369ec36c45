fabricast run $SCENARIOS/learn/07-zero3.yaml --no-db
