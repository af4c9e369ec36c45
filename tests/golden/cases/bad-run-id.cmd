fabricast run $SCENARIOS/hello.yaml >/dev/null && fabricast query iterations --run 9
