fabricast run $SCENARIOS/megatron-405b.yaml
