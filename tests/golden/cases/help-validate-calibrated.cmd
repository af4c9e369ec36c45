fabricast validate calibrated --help
