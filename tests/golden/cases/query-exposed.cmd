for nodes in 1 2 4; do fabricast run $SCENARIOS/hello.yaml --set cluster.nodes=$nodes >/dev/null; done && fabricast query exposed --format csv
