fabricast sweep $SCENARIOS/hello.yaml --vary seed=1..2000 --vary cluster.nodes=1..2000
