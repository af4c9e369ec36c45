fabricast upgrade $SCENARIOS/fabric-ddp-ecmp.yaml --top 6
