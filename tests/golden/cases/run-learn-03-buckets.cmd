fabricast run $SCENARIOS/learn/03-buckets.yaml --no-db
