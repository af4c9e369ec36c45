fabricast describe links
