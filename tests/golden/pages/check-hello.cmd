fabricast check $SCENARIOS/hello.yaml
