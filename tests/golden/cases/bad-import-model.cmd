fabricast import inputs/bad-config.json
