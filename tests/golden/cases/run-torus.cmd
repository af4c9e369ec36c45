fabricast run inputs/torus.yaml --no-db
