fabricast run $SCENARIOS/ddp-2b-4nodes-200g.yaml --no-db --set job.bucket=100MiB --set cluster.nic=ib-ndr --iterations 1 --seed 7
