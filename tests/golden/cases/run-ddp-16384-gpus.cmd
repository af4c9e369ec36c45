fabricast run $SCENARIOS/ddp-16384-gpus.yaml
