fabricast check inputs/negative.yaml
