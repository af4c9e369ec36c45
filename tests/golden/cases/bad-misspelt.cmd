fabricast check inputs/misspelt.yaml
