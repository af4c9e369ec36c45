fabricast topo --help
