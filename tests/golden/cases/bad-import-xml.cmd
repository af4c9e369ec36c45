head -30 import/nccl-p4d.xml | fabricast import -
