// Give a revised note `n` its new vectors, and its former version `p` the ones before.
CALL (n, p) {
  WITH n, p WHERE n.raw_embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(p, 'raw_embedding', n.raw_embedding)
  CALL db.create.setNodeVectorProperty(p, 'context_embedding', n.context_embedding)
  RETURN count(*) AS copied
}
CALL (n, row) {
  WITH n, row WHERE row.raw_vector IS NOT NULL OR row.context_vector IS NOT NULL OR n.status = 'pending'
  // use writes/outdate node=n
}
CALL (n) {
  WITH n WHERE n.status = 'pending'
  REMOVE n.raw_embedding, n.context_embedding
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
