sed 's/23.90/33.90/; s/     27.11     26.83//' fixtures/benchmarks/nvbandwidth-rtx4090.txt | fabricast import -
