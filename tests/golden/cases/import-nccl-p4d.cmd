fabricast import import/nccl-p4d.xml
