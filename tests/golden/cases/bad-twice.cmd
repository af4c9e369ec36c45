fabricast check inputs/twice.yaml
