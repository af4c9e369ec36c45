fabricast sweep $SCENARIOS/hello.yaml
