fabricast run $SCENARIOS/four-nodes.yaml --no-db
