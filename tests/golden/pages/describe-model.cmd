fabricast describe models llama2-7b
