fabricast query iterations
