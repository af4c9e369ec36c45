fabricast import import/nccl-ncv4.xml
