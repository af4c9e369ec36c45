fabricast collective --node dgx-a10
