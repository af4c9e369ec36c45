fabricast check $SCENARIOS/fabric-ddp-ecmp.yaml --quiet
