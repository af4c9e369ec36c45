fabricast validate fidelity --help
