fabricast sweep $SCENARIOS/ddp-2b-4nodes-200g.yaml --vary job.global_batch=32,33 --set job.micro_batch=1 --format json
