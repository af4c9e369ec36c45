fabricast run $SCENARIOS/compare-domain-72.yaml --no-db
