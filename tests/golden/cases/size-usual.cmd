fabricast size $SCENARIOS/zero3-13b-slow-fabric.yaml --vary cluster.nic_rate --target 'exposed<=20%' --target 'token_cost<=$0.2'
