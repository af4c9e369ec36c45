fabricast collective --node dgx-a100 --nodes 4 -b 8 -e 8G -f 8
