fabricast size $SCENARIOS/hello.yaml --vary cluster.nodes=4..1 --target 'mfu>=30%'
