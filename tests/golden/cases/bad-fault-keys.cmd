fabricast check inputs/fault-keys.yaml
