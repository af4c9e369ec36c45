fabricast topo --node gb200-nvl72
