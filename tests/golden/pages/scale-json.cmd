fabricast scale $SCENARIOS/hello.yaml --gpus 6,8,16 --efficiency 97% --format json
