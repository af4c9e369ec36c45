fabricast cost $SCENARIOS/ddp-2b-4nodes-200g.yaml --format csv
