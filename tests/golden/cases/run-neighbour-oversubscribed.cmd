fabricast run $SCENARIOS/neighbour-oversubscribed.yaml
