fabricast describe nodes dgx-a100
