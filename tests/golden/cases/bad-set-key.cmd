fabricast check $SCENARIOS/hello.yaml --set cluster.nods=3
