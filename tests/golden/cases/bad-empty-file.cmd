fabricast check /dev/null
