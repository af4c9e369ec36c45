fabricast upgrade $SCENARIOS/hello.yaml --only node --format csv
