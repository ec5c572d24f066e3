// Take notes out, with all that leads to them; they stay as former versions, and writes/reinstate brings them back.
// $write.retire: list<map>    {id, decision}
CALL () {
  UNWIND $write.retire AS row
  MATCH (n:Note {scope: $scope, id: row.id})
  MATCH (d:Decision {scope: $scope, id: row.decision})
  SET n.was = n.status, n.status = 'past', n.superseded_at = CASE WHEN n.recorded_at > $now THEN n.recorded_at ELSE $now END,
      n.keywords = COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }
  CREATE (d)-[:ABOUT {role: 'retired', revision: n.revision + 1}]->(n)
  REMOVE n:Note
  SET n:Past
  WITH n
  CALL (n) {
    MATCH (n)-[r:SUPPORTS]->(c:Claim)
    DELETE r
    WITH DISTINCT c WHERE NOT EXISTS { (c)<-[:SUPPORTS]-() }
    DELETE c
  }
  MATCH (n)-[r:HAS_KEYWORD|RELATED|SUPERSEDES|UNTIED|IN_BLOCK|SUPPORTS]-()
  DELETE r
}
