fabricast cost $SCENARIOS/ddp-llama2-7b-16-dgx-h100.yaml --set job.train_tokens=1e12
