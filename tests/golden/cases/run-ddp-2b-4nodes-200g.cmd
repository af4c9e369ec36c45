fabricast run $SCENARIOS/ddp-2b-4nodes-200g.yaml
