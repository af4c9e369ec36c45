fabricast run $SCENARIOS/fault-leaf-outage.yaml --set faults.0.until=0s --db hung.db; echo "[exit $?]"; fabricast query iterations --db hung.db
