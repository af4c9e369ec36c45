fabricast run inputs/traffic.yaml --no-db --set job.target=99
