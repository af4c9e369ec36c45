fabricast run $SCENARIOS/learn/06-nvlink.yaml --no-db
