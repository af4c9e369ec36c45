fabricast topo --node dgx-a100 --nodes 4
