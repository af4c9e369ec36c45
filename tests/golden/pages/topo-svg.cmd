fabricast topo --node dgx-a100 --format svg
