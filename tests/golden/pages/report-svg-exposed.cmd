fabricast run $SCENARIOS/hello.yaml --no-band >/dev/null && fabricast report --svg exposed
