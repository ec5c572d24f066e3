// All relationships of a store, of all scopes.
// returns a, b: ids of the nodes, kind, properties
MATCH (a)-[r]->(b)
RETURN elementId(a) AS a, elementId(b) AS b, type(r) AS kind, properties(r) AS properties
