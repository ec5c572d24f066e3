// Put the keywords of new pairs that have no topic into the topic that they occur with most (docs/architecture.md, Topics).
CALL (most) {
  UNWIND $write.pair AS row
  WITH most, row WHERE most IS NOT NULL AND row.change > 0
  UNWIND [row.a, row.b] AS name
  WITH DISTINCT most, name
  // use topics/join_best
}
