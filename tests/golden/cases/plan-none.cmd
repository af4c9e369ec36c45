fabricast plan $SCENARIOS/hello.yaml --strategies ddp,zero2 --memory 4GB
