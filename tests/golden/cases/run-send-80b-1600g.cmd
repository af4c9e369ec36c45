fabricast run $SCENARIOS/send-80b-1600g.yaml
