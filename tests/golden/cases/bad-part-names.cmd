fabricast check inputs/part-names.yaml
