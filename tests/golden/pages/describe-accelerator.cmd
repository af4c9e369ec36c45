fabricast describe accelerators h100-sxm5-80gb
