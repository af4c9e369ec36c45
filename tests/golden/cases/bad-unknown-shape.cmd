fabricast check inputs/unknown-shape.yaml
