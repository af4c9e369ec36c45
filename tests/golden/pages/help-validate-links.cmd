fabricast validate links --help
