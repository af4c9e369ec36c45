fabricast run inputs/faults.yaml --no-db
