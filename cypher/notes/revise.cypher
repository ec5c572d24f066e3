// Give notes new content or status, each at most once: the closing state is copied to a Past node first.
// $scope: string    the scope
// $rows: list<map>    {id, properties, raw_vector or null, context_vector or null, decision, role, adds, drops (of sources)}
// $now: datetime    the time of the change
UNWIND $rows AS row
MATCH (n:Note {scope: $scope, id: row.id})
MATCH (d:Decision {scope: $scope, id: row.decision})
// a clock that was put back makes no two versions true at once
WITH n, d, row, CASE WHEN n.recorded_at > $now THEN n.recorded_at ELSE $now END AS now
CREATE (p:Past)
SET p = properties(n), p.was = n.status, p.status = 'past', p.superseded_at = now,
    p.keywords = COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }
CREATE (n)-[:WAS]->(p)
WITH n, p, d, row, now
CALL (n, p) { MATCH (n)-[:FROM]->(x:Source) CREATE (p)-[:FROM]->(x) }
SET n += row.properties, n.recorded_at = now, n.revision = n.revision + 1
SET n.raw_scoped = n.scope_token + replace(n.raw_terms, ' ', ' ' + n.scope_token),
    n.context_scoped = n.scope_token + replace(n.context_terms, ' ', ' ' + n.scope_token)
CREATE (d)-[:ABOUT {role: row.role, revision: n.revision}]->(n)
WITH n, p, row
CALL (n, row) { UNWIND row.drops AS id MATCH (n)-[f:FROM]->(:Source {scope: $scope, id: id}) DELETE f }
CALL (n, row) { UNWIND row.adds AS id MATCH (x:Source {scope: $scope, id: id}) MERGE (n)-[:FROM]->(x) }
CALL (n, p) {
  WITH n, p WHERE n.raw_embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(p, 'raw_embedding', n.raw_embedding)
  CALL db.create.setNodeVectorProperty(p, 'context_embedding', n.context_embedding)
  RETURN count(*) AS copied
}
CALL (n, row) {
  WITH n, row WHERE row.raw_vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'raw_embedding', row.raw_vector)
  RETURN count(*) AS raw
}
CALL (n, row) {
  WITH n, row WHERE row.context_vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'context_embedding', row.context_vector)
  RETURN count(*) AS context
}
FINISH
