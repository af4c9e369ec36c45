fabricast compare $SCENARIOS/fault-leaf-outage.yaml
