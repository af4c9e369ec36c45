fabricast describe job ddp
