fabricast import import/nccl-ndv4.xml
