fabricast run $SCENARIOS/ddp-2b-4nodes-200g.yaml --iterations 1 >/dev/null && fabricast query --sql "SELECT name, n_ranks, n_nodes FROM run WHERE run_id = :run"
