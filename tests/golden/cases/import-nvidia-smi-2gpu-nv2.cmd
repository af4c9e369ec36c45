fabricast import import/nvidia-smi-2gpu-nv2.txt
