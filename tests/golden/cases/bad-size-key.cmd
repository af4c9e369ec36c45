fabricast size $SCENARIOS/hello.yaml --vary cluster.nods=1..4 --target 'mfu>=30%'
