fabricast calibrate $SCENARIOS/../validate/measured/links/slingshot11_alps_mpich_host.csv --base ib-edr
