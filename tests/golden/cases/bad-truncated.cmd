fabricast check inputs/truncated.yaml
