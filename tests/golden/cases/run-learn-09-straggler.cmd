fabricast run $SCENARIOS/learn/09-straggler.yaml --no-db
