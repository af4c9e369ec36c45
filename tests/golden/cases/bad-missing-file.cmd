fabricast run nowhere.yaml
