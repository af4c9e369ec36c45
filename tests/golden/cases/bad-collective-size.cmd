fabricast collective --node dgx-a100 -b 3Q
