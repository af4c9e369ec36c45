fabricast cost $SCENARIOS/own-node.yaml
