fabricast import fixtures/benchmarks/fi-pingpong-cxi.txt fixtures/benchmarks/osu-suite-5.8.txt -o lab.meas --system "two nodes" && fabricast measure show lab.meas
