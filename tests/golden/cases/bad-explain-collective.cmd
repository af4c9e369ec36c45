fabricast explain $SCENARIOS/hello.yaml --collective bucket999
