fabricast query
