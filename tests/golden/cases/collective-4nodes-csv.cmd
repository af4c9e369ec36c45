fabricast collective --node dgx-a100 --nodes 4 --op reduce_scatter -b 1M -e 1G -f 4 --format csv
