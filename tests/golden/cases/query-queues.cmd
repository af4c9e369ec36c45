fabricast run inputs/queues.yaml >/dev/null && fabricast query queues && fabricast run inputs/queues.yaml --fidelity fluid >/dev/null && fabricast query queues --format csv
