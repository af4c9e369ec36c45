fabricast run $SCENARIOS/ddp-2b-4nodes-400g.yaml --format csv --no-db
