// Remove claims, under the scope's lock. Of those that no note supports any more that can be read, the notes are read for claims
// again when they can be; what has decayed stays gone.
// $scope: string    the scope
// $rows: list<map>    {id, decayed}
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s
UNWIND $rows AS row
MATCH (c:Claim {scope: $scope, id: row.id})
CALL (c, row) {
  MATCH (n:Note)-[:SUPPORTS]->(c) WHERE NOT row.decayed
  SET n.abstracted = null
}
DETACH DELETE c
