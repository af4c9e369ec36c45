fabricast import fixtures/benchmarks/p2p-rtx4090.txt --format csv --source notes | cut -d, -f1,3-8,11-20
