fabricast plan $SCENARIOS/hello.yaml --strategies zero1,zero3-hpz --format json
