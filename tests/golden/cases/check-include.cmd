fabricast check inputs/includes-good.yaml | grep -v summary
