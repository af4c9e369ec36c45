fabricast run $SCENARIOS/ddp-20b.yaml
