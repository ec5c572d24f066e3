// All nodes of a store, of all scopes: a compaction writes them into a new one.
// returns id, labels, properties
MATCH (n)
RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties
