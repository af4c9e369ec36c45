fabricast run $SCENARIOS/fabric-ddp-rail.yaml
