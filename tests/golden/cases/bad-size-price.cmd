fabricast size $SCENARIOS/own-node.yaml --vary seed=1,2 --target 'step_cost<=$2'
