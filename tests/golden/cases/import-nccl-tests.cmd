fabricast import fixtures/nccl-tests/oci-a100x8.json fixtures/nccl-tests/alps-gh200x4.txt
