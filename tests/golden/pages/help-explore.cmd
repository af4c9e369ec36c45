fabricast explore --help
