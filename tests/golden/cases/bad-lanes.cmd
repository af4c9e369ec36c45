fabricast run inputs/torus.yaml --no-db --set fidelity.lanes=1
