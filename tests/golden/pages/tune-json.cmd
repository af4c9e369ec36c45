fabricast tune $SCENARIOS/hello.yaml --knobs micro_batch --format json
