sed '1s/bandwidth/bandwith/; 9s/160000000/160MB/; s/rate_GBps/rate/' fixtures/benchmarks/series.csv | fabricast import -
