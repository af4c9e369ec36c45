fabricast whatif $SCENARIOS/fabric-ddp-rail.yaml --fault 'link=node3/nic2->leaf2:dead@0.5s' --fault rail=1:+50us
