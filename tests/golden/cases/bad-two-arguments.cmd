fabricast check one.yaml two.yaml
