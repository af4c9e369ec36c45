fabricast plan $SCENARIOS/ddp-2b-4nodes-200g.yaml --strategies ddp,hsdp --memory 40GB --format csv
