fabricast run $SCENARIOS/background-uplinks.yaml
