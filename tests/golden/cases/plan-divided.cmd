fabricast plan $SCENARIOS/fsdp-8b-straggler.yaml --strategies megatron --set cluster.nodes=2 --set job.precision=bf16 --top 4
