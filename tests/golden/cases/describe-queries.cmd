fabricast describe queries
