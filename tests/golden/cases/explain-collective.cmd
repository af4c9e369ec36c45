fabricast explain $SCENARIOS/hello.yaml --collective largest
