fabricast explain $SCENARIOS/ddp-2b-4nodes-200g.yaml exposed_time --format csv
