fabricast check inputs/alias-bomb.yaml
