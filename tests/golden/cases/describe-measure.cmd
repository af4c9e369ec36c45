fabricast describe measure
