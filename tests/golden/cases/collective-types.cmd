for type in half double; do for op in all_gather reduce_scatter broadcast; do fabricast collective --node dgx-a100 --nodes 2 -o $op -d $type -b 100 -e 33M -f 300000 | grep -v "^#"; done; done
