fabricast run inputs/queues.yaml --no-db --format json
