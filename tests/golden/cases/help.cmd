fabricast --help
