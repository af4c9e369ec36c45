printf 'hello\n' | fabricast import -
