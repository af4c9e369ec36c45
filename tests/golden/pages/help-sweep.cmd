fabricast sweep --help
