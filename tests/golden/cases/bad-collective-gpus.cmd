fabricast collective --node dgx-a100 --gpus-per-node 9
