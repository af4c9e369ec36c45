fabricast explain $SCENARIOS/hello.yaml speed
