fabricast run $SCENARIOS/learn/01-one-gpu.yaml --no-db
