fabricast collective --node dgx-a100 --form closed -b 1M -e 1G -f 32
