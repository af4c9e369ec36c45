fabricast collective --node dgx-a100 --check fixtures/nccl-tests/alps-gh200x4.txt --check-from 1G
