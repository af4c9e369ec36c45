fabricast validate links $SCENARIOS/../docs/examples/link.csv --with $SCENARIOS/../docs/examples/link.yaml
