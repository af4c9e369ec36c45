fabricast collective --node host --nodes 4 --library mpi -b 4K -e 16M -f 64 --format csv --with $SCENARIOS/measured/rig-100m.yaml --nic rig-100m
