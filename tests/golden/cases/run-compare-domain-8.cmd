fabricast run $SCENARIOS/compare-domain-8.yaml --no-db
