fabricast run $SCENARIOS/learn/08-oversubscription.yaml --no-db
