fabricast check --help
