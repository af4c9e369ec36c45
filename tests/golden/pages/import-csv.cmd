fabricast import fixtures/benchmarks/series.csv --format json
