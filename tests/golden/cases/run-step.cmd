fabricast run $SCENARIOS/send-80b-200g.yaml --no-db --fidelity step
