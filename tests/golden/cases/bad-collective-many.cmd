fabricast collective --node dgx-a100 -b 1 -e 100000 -i 1
