fabricast check --quiet $SCENARIOS/hello.yaml && echo good
