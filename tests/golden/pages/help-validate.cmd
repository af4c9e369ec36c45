fabricast validate --help
