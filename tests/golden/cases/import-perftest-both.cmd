fabricast import fixtures/benchmarks/perftest-write-both-rocm.txt fixtures/benchmarks/perftest-send-both-MB.txt --system "two nodes"
