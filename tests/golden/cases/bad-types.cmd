fabricast check inputs/types.yaml
