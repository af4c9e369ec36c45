fabricast trace --help
