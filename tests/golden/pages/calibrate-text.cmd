fabricast calibrate $SCENARIOS/../docs/examples/link.csv --base efa-v1 --name lab-efa --date 2026-11-21 -o link.yaml && diff link.yaml $SCENARIOS/../docs/examples/link.yaml
