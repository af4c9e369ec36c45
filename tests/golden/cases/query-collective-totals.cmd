fabricast run $SCENARIOS/send-80b-1600g.yaml >/dev/null && fabricast query collective-totals --format json
