fabricast run $SCENARIOS/fault-nic-half-rate.yaml
