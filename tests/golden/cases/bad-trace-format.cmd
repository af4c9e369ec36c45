fabricast trace --format perfetto -o t.json
