sed 's/^1k/1q/; s/9.27/92.7/' fixtures/benchmarks/fi-pingpong-cxi.txt | fabricast import -
