fabricast run $SCENARIOS/moe-mixtral-128-gpus.yaml
