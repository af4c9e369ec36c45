fabricast tune $SCENARIOS/hello.yaml --knobs prefetch
