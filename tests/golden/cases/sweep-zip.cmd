fabricast sweep $SCENARIOS/ddp-2b-4nodes-200g.yaml --zip 'cluster.nodes=2,4 job.micro_batch=4, 2' --vary seed=1,2 --db a.db && fabricast query sweep --db a.db --format csv
