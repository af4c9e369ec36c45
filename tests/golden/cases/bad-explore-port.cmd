fabricast explore --port 70000
