// Make notes anew in place that lose erased sources, or no longer quote them: a former version would keep the very words
// (docs/erasure.md, What goes, and what is made anew).
// $write.rebuild: list<map>    {id, properties, raw_vector or null, context_vector or null, keywords or null, losing}
CALL () {
  UNWIND $write.rebuild AS row
  MATCH (n:Note {scope: $scope, id: row.id})
  SET n += row.properties
  // use notes/scoped
  SET n.expires_at = coalesce(n.kept_expires, n.expires_at), n.erase_at = coalesce(n.kept_erase, n.erase_at),
      n.keywords = CASE WHEN row.losing AND n.keywords IS NOT NULL THEN [] ELSE n.keywords END
  SET n.kept_expires = null, n.kept_erase = null
  WITH n, row
  // use writes/outdate node=n
  WITH n, row
  CALL (n, row) {
    WITH n, row WHERE row.raw_vector IS NOT NULL AND n.raw_embedding IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, 'raw_embedding', row.raw_vector)
    RETURN count(*) AS raw
  }
  CALL (n, row) {
    WITH n, row WHERE row.context_vector IS NOT NULL AND n.context_embedding IS NOT NULL
    CALL db.create.setNodeVectorProperty(n, 'context_embedding', row.context_vector)
    RETURN count(*) AS context
  }
  WITH n, row WHERE row.keywords IS NOT NULL
  MATCH (n)-[r:HAS_KEYWORD]->(k:Keyword) WHERE NOT k.name IN row.keywords
  DELETE r
}
