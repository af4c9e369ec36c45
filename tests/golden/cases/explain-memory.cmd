fabricast explain $SCENARIOS/fsdp-8b-straggler.yaml memory
