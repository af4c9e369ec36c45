fabricast collective --node dgx-h100 --nodes 2 --nic ib-hdr --set collectives.protocol=simple -b 1G
