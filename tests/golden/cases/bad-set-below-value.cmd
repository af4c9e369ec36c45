fabricast check $SCENARIOS/hello.yaml --set cluster.nodes.x=1
