fabricast rum $SCENARIOS/hello.yaml
