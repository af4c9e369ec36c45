fabricast whatif $SCENARIOS/ddp-2b-4nodes-200g.yaml --nic 400Gb/s --nodes 2 --nvls off --format csv
