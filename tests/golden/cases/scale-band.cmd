fabricast scale $SCENARIOS/mpi-rig-100m.yaml --gpus 1:16:x2
