// Give notes new content or status: the closing state is copied to a Past node first.
// $scope: string    the scope
// $rows: list<map>    {id, properties, raw_vector or null, context_vector or null, role}
// $decision: map    {id, kind, at}
UNWIND $rows AS row
MATCH (n:Note {scope: $scope, id: row.id})
CREATE (p:Past)
SET p = properties(n), p.was = n.status, p.status = 'past', p.superseded_at = $decision.at
CREATE (n)-[:WAS]->(p)
SET n += row.properties, n.recorded_at = $decision.at, n.revision = n.revision + 1
MERGE (d:Decision {scope: $scope, id: $decision.id})
ON CREATE SET d += $decision
CREATE (d)-[:ABOUT {role: row.role, revision: n.revision}]->(n)
WITH n, p, row
CALL db.create.setNodeVectorProperty(p, 'raw_embedding', n.raw_embedding)
CALL db.create.setNodeVectorProperty(p, 'context_embedding', n.context_embedding)
CALL db.create.setNodeVectorProperty(n, 'raw_embedding', coalesce(row.raw_vector, n.raw_embedding))
CALL db.create.setNodeVectorProperty(n, 'context_embedding', coalesce(row.context_vector, n.context_embedding))
FINISH
