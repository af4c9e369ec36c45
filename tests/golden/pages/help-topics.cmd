fabricast help
