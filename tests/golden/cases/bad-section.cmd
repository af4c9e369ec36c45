fabricast describe lnks
