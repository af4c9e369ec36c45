fabricast plan $SCENARIOS/hello.yaml --strategies zero4
