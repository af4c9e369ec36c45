fabricast tune $SCENARIOS/zero3-13b-slow-fabric.yaml
