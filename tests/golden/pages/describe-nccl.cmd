fabricast describe collectives nccl
