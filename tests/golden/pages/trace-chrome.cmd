fabricast run $SCENARIOS/send-80b-200g.yaml >/dev/null && fabricast trace -o -
