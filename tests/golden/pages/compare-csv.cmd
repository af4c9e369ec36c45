fabricast compare $SCENARIOS/neighbour-oversubscribed.yaml --fidelity analytic,fluid --against fluid --format csv
