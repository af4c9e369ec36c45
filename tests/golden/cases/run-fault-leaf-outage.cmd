fabricast run $SCENARIOS/fault-leaf-outage.yaml
