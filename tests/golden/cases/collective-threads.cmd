fabricast collective --node dgx-a100 -b 8 -t 8 -g 1 && fabricast collective --node dgx-a100 -b 8 -t 2 && fabricast collective --node dgx-a100 -b 8 --gpus-per-node 8 -g 2
