head -27 fixtures/benchmarks/perftest-write.json | fabricast import -
