fabricast run $SCENARIOS/learn/10-under-5-percent.yaml --no-db
