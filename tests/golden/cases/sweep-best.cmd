fabricast sweep $SCENARIOS/ddp-2b-4nodes-200g.yaml --vary cluster.nic_rate=10..1010Gb/s:10 --set iterations=1
