fabricast tune $SCENARIOS/zero3-13b-slow-fabric.yaml --knobs bucket,prefetch,max_live,micro_batch --memory 8GB
