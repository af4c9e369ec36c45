fabricast import fixtures/huggingface/deepseek-v3.json
