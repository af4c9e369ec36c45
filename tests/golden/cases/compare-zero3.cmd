fabricast compare $SCENARIOS/zero3-13b-slow-fabric.yaml
