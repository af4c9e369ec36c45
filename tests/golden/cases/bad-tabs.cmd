fabricast check inputs/tabs.yaml
