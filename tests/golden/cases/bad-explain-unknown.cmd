fabricast explain $SCENARIOS/send-80b-200g.yaml mfu
