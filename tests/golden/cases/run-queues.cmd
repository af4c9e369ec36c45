fabricast run inputs/queues.yaml --no-db
