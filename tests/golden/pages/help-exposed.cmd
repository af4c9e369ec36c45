fabricast help exposed
