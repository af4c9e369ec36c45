fabricast describe measure tcp
