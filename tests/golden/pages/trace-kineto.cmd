fabricast run $SCENARIOS/send-80b-200g.yaml >/dev/null && fabricast trace --format kineto -o out && ls out && cat out/rank-0.json
