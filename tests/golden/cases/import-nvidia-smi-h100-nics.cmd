fabricast import import/nvidia-smi-h100-nics.txt
