fabricast sweep $SCENARIOS/ddp-2b-4nodes-200g.yaml --vary cluster.nic_rate=200Gb/s,400Gb/s --vary job.micro_batch=1..3
