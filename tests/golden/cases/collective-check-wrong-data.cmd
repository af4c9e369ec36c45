fabricast collective --node dgx-a100 --check fixtures/nccl-tests/per-iteration.txt
