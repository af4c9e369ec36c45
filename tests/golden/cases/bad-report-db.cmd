fabricast report --db nothing.db
