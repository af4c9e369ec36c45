fabricast run $SCENARIOS/background-uplinks.yaml --set "background=[{kind: bursts, load: 20%, burst: 500us, links: leaf0 -> spine0}]" --seeds 10 --db seeds.db && fabricast query runs --db seeds.db
