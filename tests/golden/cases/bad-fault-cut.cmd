fabricast run $SCENARIOS/background-uplinks.yaml --set cluster.fabric.nodes_per_leaf=1 --set "faults=[{what: switch, name: leaf1, dead: true}]" --no-db
