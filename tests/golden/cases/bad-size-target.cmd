fabricast size $SCENARIOS/hello.yaml --vary cluster.nodes=1..4 --target 'mffu>=30%'
