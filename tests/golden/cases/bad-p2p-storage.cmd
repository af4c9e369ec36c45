fabricast p2p --node dgx-h100 --storage
