// Take back that notes were taken out; the time when they were out is a former version (docs/architecture.md, Undo).
// $write.reinstate: list<map>    {id, retired_by, decision, keywords, stamp}
CALL () {
  UNWIND $write.reinstate AS row
  MATCH (:Decision {scope: $scope, id: row.retired_by})-[:ABOUT {role: 'retired'}]->(n:Past {scope: $scope, id: row.id})
  MATCH (d:Decision {scope: $scope, id: row.decision})
  WITH n, d, row, CASE WHEN n.superseded_at > $now THEN n.superseded_at ELSE $now END AS now
  CREATE (p:Past)
  SET p = properties(n)
  WITH n, p, d, row, now
  // use notes/tell_as
  REMOVE n:Past
  SET n:Note, n.status = n.was, n.was = null, n.keywords = null, n.recorded_at = now, n.revision = n.revision + 1,
      n.stamp = row.stamp, n.superseded_at = datetime('9999-12-31T00:00:00Z')
  CREATE (n)-[:WAS]->(p)
  CREATE (d)-[:ABOUT {role: 'changed', revision: n.revision}]->(n)
  WITH n, row
  // while it was out its source may have had another text, and has the one again that it tells
  CALL (n) {
    MATCH (n)-[f:FROM]->(s:PastSource)<-[:WAS]-(x:Source) WHERE x.hash = s.hash
    CREATE (n)-[:FROM {part: f.part}]->(x)
    DELETE f
  }
  WITH n, row
  // use notes/carry
}
