fabricast describe links ib-hdd
