for x in "-g 1 --algorithm rnig" "--algorithm nvls" "-o all_gather --algorithm ring --protocol ll128 -n 1"; do fabricast collective --node dgx-a100 -b 1M -e 1M $x; done
