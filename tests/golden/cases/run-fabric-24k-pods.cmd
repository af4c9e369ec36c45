fabricast run $SCENARIOS/fabric-24k-pods.yaml --set cluster.nodes=768
