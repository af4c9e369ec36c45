fabricast run inputs/hostile-name.yaml --no-db
