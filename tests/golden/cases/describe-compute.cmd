fabricast describe compute
