// How many nodes a store has with the same labels, and how many relationships of each type.
// returns kind (labels, or a type), number
MATCH (n)
RETURN labels(n) AS kind, count(*) AS number
UNION ALL
MATCH ()-[r]->()
RETURN type(r) AS kind, count(*) AS number
