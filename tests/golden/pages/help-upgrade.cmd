fabricast upgrade --help
