fabricast report --help
