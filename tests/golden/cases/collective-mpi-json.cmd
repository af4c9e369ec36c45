fabricast collective --node host --nodes 4 --library mpi -b 1M --format json --with $SCENARIOS/measured/rig-100m.yaml --nic rig-100m
