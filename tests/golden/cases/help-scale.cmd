fabricast scale --help
