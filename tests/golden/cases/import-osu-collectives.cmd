fabricast import fixtures/benchmarks/osu-allreduce-full.txt fixtures/benchmarks/osu-alltoall-alps.txt
