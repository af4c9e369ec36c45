fabricast whatif --help
