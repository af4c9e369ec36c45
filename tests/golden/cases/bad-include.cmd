fabricast check inputs/includes.yaml
