fabricast run $SCENARIOS/hello.yaml >/dev/null && fabricast query --sql "DELETE FROM run"
