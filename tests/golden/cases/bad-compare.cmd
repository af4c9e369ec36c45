fabricast compare inputs/misspelt.yaml --fidelity fluit,analytic,fluid,fluid --against analitic
