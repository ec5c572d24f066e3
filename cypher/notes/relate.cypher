// Tie notes to each other, from newer to older: RELATED, or SUPERSEDES where the older is true no more.
// $scope: string    the scope
// $rows: list<map>    {new, old, score, kind (link, conflict or supersede), decision}
UNWIND $rows AS row
MATCH (n:Note {scope: $scope, id: row.new})
MATCH (o:Note {scope: $scope, id: row.old})
CALL (n, o, row) {
  WITH n, o, row WHERE row.kind = 'supersede'
  MERGE (n)-[s:SUPERSEDES]->(o) ON CREATE SET s.decision = row.decision, s.score = row.score
}
CALL (n, o, row) {
  WITH n, o, row WHERE row.kind <> 'supersede'
  MERGE (n)-[r:RELATED]->(o) ON CREATE SET r.decision = row.decision, r.score = row.score, r.kind = row.kind
}
FINISH
