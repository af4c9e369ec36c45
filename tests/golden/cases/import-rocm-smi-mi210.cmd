fabricast import import/rocm-smi-mi210.txt
