fabricast run inputs/many.yaml
