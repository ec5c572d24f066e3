// Store notes, each with its two vectors, the source that it comes from and the decision that made it.
// $scope: string    the scope
// $rows: list<map>    {id, source, properties, raw_vector, context_vector, decision: {id, kind, at}}
UNWIND $rows AS row
MERGE (n:Note {scope: $scope, id: row.id})
ON CREATE SET n += row.properties
WITH n, row
CALL db.create.setNodeVectorProperty(n, 'raw_embedding', row.raw_vector)
CALL db.create.setNodeVectorProperty(n, 'context_embedding', row.context_vector)
MATCH (x:Source {scope: $scope, id: row.source})
MERGE (n)-[:FROM]->(x)
MERGE (d:Decision {scope: $scope, id: row.decision.id})
ON CREATE SET d += row.decision
MERGE (d)-[:ABOUT {role: 'created', revision: 1}]->(n)
