fabricast import import/nvidia-smi-dgx1-v100.txt
