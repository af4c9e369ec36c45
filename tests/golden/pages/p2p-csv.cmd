fabricast p2p --node dgx-a100 -g 3 --set cluster.p2p=none --format csv
