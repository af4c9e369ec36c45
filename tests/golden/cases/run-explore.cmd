fabricast run $SCENARIOS/explore.yaml --no-db
