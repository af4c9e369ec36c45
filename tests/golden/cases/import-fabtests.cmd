fabricast import fixtures/benchmarks/fi-pingpong-cxi.txt fixtures/benchmarks/fi-pingpong-efa.txt
