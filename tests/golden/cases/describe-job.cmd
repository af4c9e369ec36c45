fabricast describe job
