fabricast upgrade $SCENARIOS/learn/08-oversubscription.yaml --only nic,nics,fabric --format json
