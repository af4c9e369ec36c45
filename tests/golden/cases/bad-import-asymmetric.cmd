sed '1,3s/NV2/NV4/' import/nvidia-smi-2gpu-nv2.txt | sed '3s/NV4/NV2/' | fabricast import -
