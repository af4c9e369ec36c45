fabricast run inputs/own-link.yaml --no-db
