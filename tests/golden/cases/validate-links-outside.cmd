fabricast calibrate $SCENARIOS/../docs/examples/link.csv --max-size 64KiB > small.yaml && fabricast validate links $SCENARIOS/../docs/examples/link.csv --with small.yaml
