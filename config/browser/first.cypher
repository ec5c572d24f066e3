MATCH (n:Note)-[r]-(m) RETURN n, r, m LIMIT 50
