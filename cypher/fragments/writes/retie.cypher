// Bring back the ties that a decision took back.
// $write.retie: list<map>    {untied_by, decision}
CALL () {
  UNWIND $write.retie AS row
  MATCH (d:Decision {scope: $scope, id: row.decision})
  MATCH (:Decision {scope: $scope, id: row.untied_by})-[:ABOUT]->(n:Note)-[u:UNTIED {untied_by: row.untied_by}]->(o:Note)
  WITH DISTINCT d, n, o, u
  CREATE (n)-[r:$(u.was)]->(o)
  SET r = properties(u), r.was = null, r.untied_by = null
  DELETE u
  // use writes/about_ends role=tied
}
