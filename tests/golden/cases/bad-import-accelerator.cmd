fabricast import import/nccl-p4d.xml --accelerator a100-sxm4
