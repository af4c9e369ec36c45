fabricast describe models
