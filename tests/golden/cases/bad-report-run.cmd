fabricast run $SCENARIOS/hello.yaml >/dev/null && fabricast report --run 9
