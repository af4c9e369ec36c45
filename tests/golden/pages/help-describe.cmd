fabricast describe --help
