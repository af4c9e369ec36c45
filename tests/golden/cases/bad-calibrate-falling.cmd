fabricast calibrate $SCENARIOS/../validate/measured/links/efa3_h200_pingpong.csv
