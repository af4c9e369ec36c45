fabricast topo
