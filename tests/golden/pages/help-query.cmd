fabricast query --help
