fabricast topo --node dgx-h100 --nodes 64 --set 'cluster.fabric={kind: leaf_spine, nodes_per_leaf: 8, oversubscription: 2}'
