fabricast run "$SCENARIOS/hello.yaml" --db x.db --no-db
