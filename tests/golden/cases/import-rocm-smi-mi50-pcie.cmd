fabricast import import/rocm-smi-mi50-pcie.txt
