fabricast compare $SCENARIOS/compare-domain-8.yaml $SCENARIOS/compare-domain-72.yaml --at-equal step
