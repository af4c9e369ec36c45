fabricast run $SCENARIOS/mpi-rig-100m.yaml --no-db --no-band --format csv
