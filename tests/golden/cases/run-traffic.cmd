fabricast run inputs/traffic.yaml --no-db
