fabricast import import/nvidia-smi-h100-nv18.txt
