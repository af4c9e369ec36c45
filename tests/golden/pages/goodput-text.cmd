fabricast goodput $SCENARIOS/goodput-llama3-405b.yaml
