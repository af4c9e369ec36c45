fabricast whatif $SCENARIOS/fabric-ddp-rail.yaml --fault nic=node3/nic2:50% --fault gpu=11:80% --fault switch=leaf1:dead
