fabricast topo $SCENARIOS/hello.yaml --format json
