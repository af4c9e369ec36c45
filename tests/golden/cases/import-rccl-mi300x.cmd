fabricast import import/rccl-mi300x.xml
