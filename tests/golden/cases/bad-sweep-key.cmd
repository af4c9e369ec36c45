fabricast sweep $SCENARIOS/hello.yaml --vary cluster.nodez=1,2
