fabricast run --help
