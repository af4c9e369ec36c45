fabricast run $SCENARIOS/learn/02-ring.yaml --no-db
