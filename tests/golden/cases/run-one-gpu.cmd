fabricast run $SCENARIOS/hello.yaml --no-db --set cluster.gpus_per_node=1
