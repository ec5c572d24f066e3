// Store notes, each with its two vectors unless it waits to be constructed, its source, and the decision that made it.
// $scope: string    the scope
// $rows: list<map>    {id, source, properties, raw_vector or null, context_vector or null, decision}
UNWIND $rows AS row
MERGE (n:Note {scope: $scope, id: row.id})
ON CREATE SET n += row.properties
SET n.raw_scoped = n.scope_token + replace(n.raw_terms, ' ', ' ' + n.scope_token),
    n.context_scoped = n.scope_token + replace(n.context_terms, ' ', ' ' + n.scope_token)
WITH n, row
MATCH (x:Source {scope: $scope, id: row.source})
MERGE (n)-[:FROM]->(x)
WITH n, row
MATCH (d:Decision {scope: $scope, id: row.decision})
MERGE (d)-[:ABOUT {role: 'created', revision: 1}]->(n)
WITH n, row WHERE row.raw_vector IS NOT NULL
CALL db.create.setNodeVectorProperty(n, 'raw_embedding', row.raw_vector)
CALL db.create.setNodeVectorProperty(n, 'context_embedding', row.context_vector)
