fabricast describe models gpt2 --sequence 0
