fabricast size $SCENARIOS/mpi-rig-100m.yaml --vary cluster.nic_rate=50..200Mb/s:5 --target 'step<=600ms'
