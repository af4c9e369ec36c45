fabricast query iteratoins
