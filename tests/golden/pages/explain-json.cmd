fabricast explain $SCENARIOS/hello.yaml token_cost --format json
