fabricast whatif $SCENARIOS/compare-domain-8.yaml --base cluster.nodes=9 --base job.shard=8 --domain 72 --domain 4 --gpus 16
