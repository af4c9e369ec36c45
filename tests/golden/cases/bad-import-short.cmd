head -6 import/nvidia-smi-a100-nv12.txt | fabricast import -
