fabricast describe job collective
