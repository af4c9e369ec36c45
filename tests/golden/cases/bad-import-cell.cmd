sed 's/NV2/FOO/' import/nvidia-smi-2gpu-nv2.txt | fabricast import -
