fabricast explain $SCENARIOS/megatron-405b.yaml mfu --set cluster.nodes=16
