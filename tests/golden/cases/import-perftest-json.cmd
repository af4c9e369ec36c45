fabricast import fixtures/benchmarks/perftest-write.json fixtures/benchmarks/perftest-send-lat-old.json
