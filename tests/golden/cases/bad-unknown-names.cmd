fabricast check inputs/unknown-names.yaml
