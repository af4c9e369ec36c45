fabricast tune --help
