fabricast run inputs/classes.yaml --no-db
