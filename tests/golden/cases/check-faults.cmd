fabricast check $SCENARIOS/fault-nic-half-rate.yaml
