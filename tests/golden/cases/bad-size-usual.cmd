fabricast size $SCENARIOS/hello.yaml --vary cluster.fabric --target 'mfu>=30%'
