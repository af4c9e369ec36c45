fabricast describe route
