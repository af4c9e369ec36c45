fabricast run
