fabricast collective --help
