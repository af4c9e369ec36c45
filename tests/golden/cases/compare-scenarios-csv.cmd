fabricast compare $SCENARIOS/ddp-2b-4nodes-200g.yaml $SCENARIOS/ddp-2b-4nodes-400g.yaml --format csv
