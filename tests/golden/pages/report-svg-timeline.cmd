fabricast run $SCENARIOS/send-80b-200g.yaml --no-band >/dev/null && fabricast report --svg timeline
