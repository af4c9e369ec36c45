fabricast describe models resnet-50 --sequence 1 | tail -n 40
