fabricast check $SCENARIOS/ddp-16384-gpus.yaml
