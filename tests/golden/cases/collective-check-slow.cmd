sed "s/sum      -1  80646.8  133.14  233.00/sum      -1 160646.8   66.84  116.97/" fixtures/nccl-tests/oci-a100x16.txt | fabricast collective --node dgx-a100 --check - --tolerance 10%
