fabricast plan --help
