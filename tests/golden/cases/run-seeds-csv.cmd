fabricast run $SCENARIOS/background-uplinks.yaml --set "background=[{kind: bursts, load: 20%, burst: 500us, links: leaf0 -> spine0}]" --seeds 2 --no-db --format csv
