echo text >notes.txt; fabricast run $SCENARIOS/hello.yaml --db notes.txt
