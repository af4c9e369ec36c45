fabricast describe nodes
