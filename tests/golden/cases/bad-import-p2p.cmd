sed 's/20.91/x/; /22.36/d' fixtures/benchmarks/p2p-rtx4090.txt | fabricast import -
