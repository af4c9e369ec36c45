fabricast run $SCENARIOS/ddp-2b-4nodes-200g.yaml --iterations 1 >/dev/null && fabricast query exposure
