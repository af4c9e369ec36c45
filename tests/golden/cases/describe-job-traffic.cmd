fabricast describe job traffic
