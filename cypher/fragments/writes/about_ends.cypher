// Let a decision `d` be about both notes of its ties, `n` and `o`, unless it changed them.
WITH d, n, o
UNWIND [n, o] AS x
WITH DISTINCT d, x WHERE NOT EXISTS { (d)-[:ABOUT {role: 'changed'}]->(x) }
CREATE (d)-[:ABOUT {role: '<role>', found: x.revision}]->(x)
