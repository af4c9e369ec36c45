fabricast cost $SCENARIOS/hello.yaml --set cost.years=0 --set 'products=[{name: x, kind: switch, node: dgx-a100}]'
