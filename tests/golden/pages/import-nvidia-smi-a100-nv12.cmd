fabricast import import/nvidia-smi-a100-nv12.txt
