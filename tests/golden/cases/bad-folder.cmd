fabricast check inputs
