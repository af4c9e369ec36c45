fabricast p2p --node dgx-h100 --nodes 2 -g 2
