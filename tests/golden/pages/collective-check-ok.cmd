fabricast collective --node dgx-a100 --check fixtures/nccl-tests/superbench-a100x8.txt
