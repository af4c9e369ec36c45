fabricast explain --help
