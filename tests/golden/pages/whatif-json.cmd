fabricast whatif $SCENARIOS/ddp-2b-4nodes-200g.yaml --nic ib-ndr --set job.bucket=200MiB --format json
