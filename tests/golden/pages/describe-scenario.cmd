fabricast describe scenario
