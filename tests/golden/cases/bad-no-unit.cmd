fabricast run inputs/no-unit.yaml
