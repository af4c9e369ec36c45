fabricast scale $SCENARIOS/ddp-2b-4nodes-200g.yaml --gpus 8..64:x2 --format csv
