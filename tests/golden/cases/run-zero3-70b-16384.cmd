fabricast run $SCENARIOS/zero3-70b-16384.yaml --no-db --format csv
