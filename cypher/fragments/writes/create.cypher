// Store notes, each under its decision.
// $write.create: list<map>    {id, source or null, part: passage of the source, null for the first, sums: notes that it stands for,
//   properties, said_at, created_at, valid_from [ms], expires_at, erase_at [ms, null for never], raw_vector or null,
//   context_vector or null, decision, keywords}
CALL () {
  UNWIND $write.create AS row
  WITH row, datetime('9999-12-31T00:00:00Z') AS never
  CREATE (n:Note {scope: $scope, id: row.id})
  SET n += row.properties,
      n.said_at = datetime({epochMillis: row.said_at}), n.created_at = datetime({epochMillis: row.created_at}),
      n.recorded_at = $now, n.superseded_at = never,
      n.valid_from = datetime({epochMillis: row.valid_from}), n.valid_to = never,
      n.expires_at = CASE WHEN row.expires_at IS NULL THEN never ELSE datetime({epochMillis: row.expires_at}) END,
      n.erase_at = CASE WHEN row.erase_at IS NULL THEN never ELSE datetime({epochMillis: row.erase_at}) END
  // use notes/scoped
  WITH n, row
  CALL (n, row) {
    MATCH (x:Source {scope: $scope, id: row.source})
    CREATE (n)-[:FROM {part: row.part}]->(x)
  }
  CALL (n, row) { UNWIND row.sums AS id MATCH (m:Note {scope: $scope, id: id}) CREATE (n)-[:SUMS]->(m) }
  WITH n, row
  MATCH (d:Decision {scope: $scope, id: row.decision})
  CREATE (d)-[:ABOUT {role: 'created', revision: 1}]->(n)
  WITH n, row
  CALL (n, row) {
    WITH n, row WHERE row.raw_vector IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, 'raw_embedding', row.raw_vector)
    CALL db.create.setNodeVectorProperty(n, 'context_embedding', row.context_vector)
    RETURN count(*) AS vectors
  }
  // use notes/carry
}
