fabricast describe --names
