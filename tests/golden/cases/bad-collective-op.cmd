fabricast collective --node dgx-a100 --op allreduce_perv
