fabricast import fixtures/benchmarks/series.csv --nic ib-hdr; fabricast import import/nccl-p4d.xml --ranks 8; fabricast import fixtures/benchmarks/series.csv --from perftst
