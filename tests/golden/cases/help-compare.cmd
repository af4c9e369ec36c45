fabricast compare --help
