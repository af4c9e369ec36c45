fabricast cost --help
