fabricast calibrate $SCENARIOS/../docs/examples/link.csv --base efa-v1 --name lab-efa --date 2026-11-21
