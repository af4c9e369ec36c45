fabricast --version
