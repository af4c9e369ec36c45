sed 's/^1024 .*/1024 fast/; s/-np 2/-x y/' fixtures/benchmarks/osu-suite-5.8.txt | fabricast import -
