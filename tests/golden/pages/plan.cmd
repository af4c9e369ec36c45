fabricast plan $SCENARIOS/fsdp-8b-straggler.yaml --strategies ddp,zero2,zero3-hpz,hsdp --memory 40GB
