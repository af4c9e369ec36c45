fabricast topo --node dgx-h100 --format matrix
