fabricast run $SCENARIOS/hello.yaml --format json --no-db --set cluster.gpus_per_node=1
