fabricast import import/nvidia-smi-2gpu-phb.txt
