fabricast import fixtures/benchmarks/osu-suite-5.8.txt fixtures/benchmarks/osu-bw-alps-gpu.txt
