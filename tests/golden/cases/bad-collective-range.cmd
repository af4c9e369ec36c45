fabricast collective --node dgx-a100 -b 2M -e 1M
