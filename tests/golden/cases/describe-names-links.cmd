fabricast describe links --names
