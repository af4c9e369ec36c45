fabricast p2p --help
