fabricast import fixtures/benchmarks/nvbandwidth-rtx4090.txt | head -17
