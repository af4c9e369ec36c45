echo '{"architectures": ["MambaForCausalLM"], "model_type": "mamba"}' | fabricast import -
