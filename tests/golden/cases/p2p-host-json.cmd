fabricast p2p --node host --nodes 2 --format json --with $SCENARIOS/measured/rig-100m.yaml --nic rig-100m
