fabricast size --help
