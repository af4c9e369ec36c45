fabricast collective --node dgx-a100 -b 32K -e 16G -f 2
