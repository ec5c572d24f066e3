// Notes in a state that must never be: without a source, a decision or a vector, kept apart with keywords, summing what
// can be read, or tied to another scope. One that can't be read may tell what a source said before an update.
// $scope: string    the scope
// $dimensions: integer    length of the embedder's vectors
// returns id, fault
MATCH (n:Note {scope: $scope}) WHERE n.id >= ''
CALL (n) {
  WITH n WHERE NOT EXISTS { (n)-[:SUMS*0..1]->()-[:FROM]->(x:Source|PastSource) WHERE x:Source OR NOT n.status IN ['active', 'pending'] }
  RETURN 'has no source' AS fault
  UNION
  WITH n WHERE n.status <> 'pending' AND NOT EXISTS { (n)<-[:ABOUT]-(:Decision) } RETURN 'has no decision' AS fault
  UNION
  WITH n WHERE (n.status = 'active' OR n.raw_embedding IS NOT NULL OR n.context_embedding IS NOT NULL)
    AND (coalesce(size(n.raw_embedding), 0) <> $dimensions OR coalesce(size(n.context_embedding), 0) <> $dimensions)
  RETURN 'has a vector of the wrong length' AS fault
  UNION
  WITH n WHERE n.apart IS NOT NULL AND EXISTS { (n)-[:HAS_KEYWORD]->() } RETURN 'is kept apart and has keywords' AS fault
  UNION
  WITH n WHERE EXISTS { (n)-[:SUMS]->() } AND EXISTS { (n)-[:FROM]->() } RETURN 'sums notes and has a source of its own' AS fault
  UNION
  WITH n WHERE n.status IN ['active', 'pending'] AND EXISTS { (n)-[:SUMS]->(m) WHERE NOT m:Note OR m.status <> 'archived' }
  RETURN 'sums a note that is not archived' AS fault
  UNION
  WITH n WHERE n.status IN ['active', 'pending'] AND EXISTS { (n)-[:SUMS]->(m) WHERE coalesce(m.apart, '') <> coalesce(n.apart, '') }
  RETURN 'sums a note that is kept apart otherwise' AS fault
  UNION
  WITH n WHERE NOT n.several AND COUNT { (n)-[:SUMS*0..1]->()-[:FROM]->() } > 1 RETURN 'is told by several sources, and does not say so' AS fault
  UNION
  WITH n WHERE EXISTS { (n)-[]-(x) WHERE x.scope <> $scope } RETURN 'is tied to another scope' AS fault
}
RETURN n.id AS id, fault ORDER BY id, fault
