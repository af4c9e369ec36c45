fabricast measure --help
