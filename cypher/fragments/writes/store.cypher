// Store sources, each after the turn before it in its session.
// $write.store: list<map>    {id, previous: id or null, properties, expires_at, erase_at [ms, null for never]}
CALL () {
  UNWIND $write.store AS row
  CREATE (x:Source {scope: $scope, id: row.id})
  SET x += row.properties,
      x.expires_at = CASE WHEN row.expires_at IS NULL THEN datetime('9999-12-31T00:00:00Z') ELSE datetime({epochMillis: row.expires_at}) END,
      x.erase_at = CASE WHEN row.erase_at IS NULL THEN datetime('9999-12-31T00:00:00Z') ELSE datetime({epochMillis: row.erase_at}) END
  WITH x, row WHERE row.previous IS NOT NULL
  MATCH (p:Source {scope: $scope, id: row.previous})
  MERGE (p)-[:NEXT]->(x)
}
