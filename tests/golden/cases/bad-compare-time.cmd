fabricast compare $SCENARIOS/fault-leaf-outage.yaml --fidelity analytic,fluid
