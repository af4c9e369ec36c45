fabricast run $SCENARIOS/hello.yaml --no-db >/dev/full
