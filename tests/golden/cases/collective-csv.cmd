fabricast collective --node dgx-a100 -b 1M -e 1G -f 4 --format csv
