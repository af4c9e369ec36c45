fabricast tune $SCENARIOS/hello.yaml --memory 1GB
