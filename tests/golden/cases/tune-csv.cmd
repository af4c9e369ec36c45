fabricast tune $SCENARIOS/hello.yaml --knobs micro_batch,recompute --format csv
