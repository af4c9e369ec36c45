fabricast run $SCENARIOS/fabric-ddp-spray.yaml
