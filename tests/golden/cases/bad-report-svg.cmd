fabricast run $SCENARIOS/hello.yaml >/dev/null && fabricast report --svg sweep
