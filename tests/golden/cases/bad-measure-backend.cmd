fabricast measure tpc
