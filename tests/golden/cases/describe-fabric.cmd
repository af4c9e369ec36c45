fabricast describe fabric
