fabricast plan $SCENARIOS/hello.yaml --by speed
