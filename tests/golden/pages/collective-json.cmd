fabricast collective --node dgx-a100 -b 1M -e 16M -f 4 --format json
