fabricast import fixtures/huggingface/gpt2.json --nodes 4
