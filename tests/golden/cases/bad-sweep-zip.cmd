fabricast sweep $SCENARIOS/hello.yaml --zip 'cluster.nodes=1,2 job.micro_batch=1,2,3'
