fabricast check $SCENARIOS/ddp-2b-4nodes-200g.yaml --set cluster.nodes=8 --set "fidelity={kind: fluid}"
