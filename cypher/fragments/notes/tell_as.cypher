// Let a former version `p` come from the sources of the note `n`, and stand for the same notes.
CALL (n, p) { MATCH (n)-[f:FROM]->(x:Source|PastSource) CREATE (p)-[:FROM {part: f.part}]->(x) }
CALL (n, p) { MATCH (n)-[:SUMS]->(m) CREATE (p)-[:SUMS]->(m) }
