fabricast run $SCENARIOS/ddp-gpt2-xl-dgx-a100.yaml
