fabricast check inputs/classes.yaml --quiet --set 'fidelity.classes=[{of: other}, {of: other}]'
