fabricast collective --node dgx-a100 -d flaot; fabricast collective --node dgx-a100 -b 4 -o all_gather; fabricast collective --node dgx-a100 --form slow; fabricast collective --node dgx-a100 -g -1
