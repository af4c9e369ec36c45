fabricast import import/nccl-p4d.xml --accelerator a100-sxm4-40gb --nic efa-v1 --nodes 4 --name p4d-x4
