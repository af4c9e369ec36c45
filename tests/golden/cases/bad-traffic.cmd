fabricast run inputs/traffic.yaml --no-db --set job.pattern=pairs --set job.distance=1
