fabricast report --run first
