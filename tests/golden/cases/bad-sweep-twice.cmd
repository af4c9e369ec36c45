fabricast sweep $SCENARIOS/hello.yaml --vary cluster.nodes=1,2 --vary cluster.nodes=3
