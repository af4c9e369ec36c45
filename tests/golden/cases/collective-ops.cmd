for op in all_reduce all_gather reduce_scatter broadcast reduce; do fabricast collective --node dgx-h100 --op $op -b 64MB; done
