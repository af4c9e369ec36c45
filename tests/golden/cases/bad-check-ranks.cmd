fabricast collective --node dgx-a100 --nodes 2 --check fixtures/nccl-tests/superbench-a100x8.txt
