fabricast compare $SCENARIOS/hello.yaml --vary cluster.nodes=1,2,4 --at-equal mfu --by job.micro_batch=1..8 --format json | head -c 4600
