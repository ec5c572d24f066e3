// Change which sources a revised note `n` comes from, and which notes it stands for.
CALL (n, row) {
  UNWIND row.drops AS drop
  MATCH (n)-[f:FROM]->(:Source {scope: $scope, id: drop.id}) WHERE coalesce(f.part, 0) = coalesce(drop.part, 0)
  DELETE f
}
CALL (n, row) { UNWIND row.adds AS add MATCH (x:Source {scope: $scope, id: add.id}) CREATE (n)-[:FROM {part: add.part}]->(x) }
CALL (n, row) {
  WITH n, row WHERE row.sums IS NOT NULL
  CALL (n) { MATCH (n)-[r:SUMS]->() DELETE r }
  UNWIND row.sums AS id
  MATCH (m:Note {scope: $scope, id: id})
  CREATE (n)-[:SUMS]->(m)
}
