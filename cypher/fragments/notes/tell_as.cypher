// Let a former version `p` tell the sources and notes that the note `n` tells.
CALL (n, p) { MATCH (n)-[f:FROM]->(x:Source|PastSource) CREATE (p)-[:FROM {part: f.part}]->(x) }
CALL (n, p) { MATCH (n)-[:SUMS]->(m) CREATE (p)-[:SUMS]->(m) }
