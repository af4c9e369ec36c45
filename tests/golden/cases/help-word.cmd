fabricast help check
