fabricast collective --node dgx-a100 --op all_gather --check fixtures/nccl-tests/superbench-a100x8.txt
