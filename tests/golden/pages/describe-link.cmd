fabricast describe links ib-hdr
