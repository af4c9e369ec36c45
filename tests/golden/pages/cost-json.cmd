fabricast cost $SCENARIOS/ddp-llama2-7b-16-dgx-h100.yaml --format json
