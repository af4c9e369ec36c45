fabricast p2p --node dgx-a100
