fabricast tune $SCENARIOS/megatron-405b.yaml --set cluster.nodes=16 --knobs virtual,micro_batch --memory 200GB
