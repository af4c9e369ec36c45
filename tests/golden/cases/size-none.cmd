fabricast size $SCENARIOS/zero3-13b-slow-fabric.yaml --vary cluster.nic_rate=50..1600Gb/s:50 --target 'exposed<=5%'
