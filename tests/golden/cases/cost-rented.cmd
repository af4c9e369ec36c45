fabricast cost $SCENARIOS/ddp-2b-4nodes-200g.yaml --set cost.usd_per_gpu_hour=1.8 --set cluster.nic=efa-v2
