fabricast collective --node dgx-h100 -b 32M -e 96M -i 32MiB --gpus-per-node 4
