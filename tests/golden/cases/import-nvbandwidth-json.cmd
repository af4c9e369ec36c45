fabricast import fixtures/benchmarks/nvbandwidth.json --size 64MiB
