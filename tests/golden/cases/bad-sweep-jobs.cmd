fabricast sweep $SCENARIOS/hello.yaml --vary seed=1,2 --jobs 1000
