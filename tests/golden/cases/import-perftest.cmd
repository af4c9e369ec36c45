fabricast import fixtures/benchmarks/perftest-read-write-hdr.txt
