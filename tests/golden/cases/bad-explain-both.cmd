fabricast explain $SCENARIOS/hello.yaml step --collective largest
