fabricast query exposed --run 0
