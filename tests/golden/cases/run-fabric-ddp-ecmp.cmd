fabricast run $SCENARIOS/fabric-ddp-ecmp.yaml
