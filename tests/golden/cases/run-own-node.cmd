fabricast run $SCENARIOS/own-node.yaml
