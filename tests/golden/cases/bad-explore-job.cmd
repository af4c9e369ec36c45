fabricast explore $SCENARIOS/send-80b-200g.yaml
