fabricast check inputs/uses-bad-config.yaml
