fabricast check $SCENARIOS/hello.yaml --set cluster
