fabricast size $SCENARIOS/ddp-2b-4nodes-200g.yaml --vary job.micro_batch=1..8 --target 'exposed<=20%'
