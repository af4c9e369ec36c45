fabricast check $SCENARIOS/hello.yaml --set job.bucket=25 --set fidelity=fluit --set cluster.nodes=0
