fabricast collective --node dgx-a100 --check - <fixtures/nccl-tests/oci-a100x8.json
