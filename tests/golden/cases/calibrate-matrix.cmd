fabricast calibrate $SCENARIOS/../validate/measured/links/pcie4_rtx4090_p2p_both.csv $SCENARIOS/../validate/measured/links/pcie5_h200_to_gpu.csv --date 2026-11-21 --format text
