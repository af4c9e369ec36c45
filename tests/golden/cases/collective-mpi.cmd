fabricast collective --node host --nodes 4 --library mpi --algorithm binomial -b 4K -e 16M -f 64 --with $SCENARIOS/measured/rig-100m.yaml --nic rig-100m
