fabricast size $SCENARIOS/hello.yaml --vary cluster.nic=ib-hdr,ib-ndr --target 'mfu>=30%' --format json --set cluster.nodes=2
