fabricast describe shape
