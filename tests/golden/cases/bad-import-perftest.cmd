sed 's/185.13/x/; s/193.95            0/393.95   0/; $d' fixtures/benchmarks/perftest-read-write-hdr.txt | fabricast import -
