fabricast describe models deepseek-v3 --sequence 4096
