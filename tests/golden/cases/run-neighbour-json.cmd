fabricast run $SCENARIOS/neighbour-oversubscribed.yaml --no-db --format json
