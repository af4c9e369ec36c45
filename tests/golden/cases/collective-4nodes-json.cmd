fabricast collective --node dgx-h100 --nodes 4 --op all_gather -b 1M -e 1G -f 32 --format json
