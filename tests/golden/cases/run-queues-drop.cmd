fabricast run inputs/queues.yaml --no-db --iterations 1 --set "fidelity={kind: packet, flow_control: drop, queue: 200kB}"
