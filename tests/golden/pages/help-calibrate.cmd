fabricast calibrate --help
