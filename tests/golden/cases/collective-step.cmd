fabricast collective --node dgx-h100 --nodes 2 --algorithm tree --protocol simple --form step -b 1M -e 1G -f 32
