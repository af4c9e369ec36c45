fabricast compare $SCENARIOS/ddp-2b-4nodes-200g.yaml --vary cluster.nic=ib-hdr,ib-ndr,ib-xxr,ib-xdr --against ib-ndr --at-equal exposed
