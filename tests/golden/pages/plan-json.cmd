fabricast plan $SCENARIOS/hello.yaml --strategies zero1,hsdp --format json
