fabricast run $SCENARIOS/learn/04-exposed.yaml --no-db
