fabricast run $SCENARIOS/fsdp-8b-straggler.yaml
