fabricast run $SCENARIOS/ddp-2b-1node.yaml
