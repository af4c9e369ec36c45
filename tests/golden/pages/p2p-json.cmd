fabricast p2p --node dgx-a100 -g 2 --format json
