fabricast scale $SCENARIOS/ddp-2b-4nodes-200g.yaml --gpus 1,4,8,12,16 --strong
