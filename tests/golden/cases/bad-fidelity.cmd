fabricast run $SCENARIOS/hello.yaml --fidelity fluit
