// Take back what retired notes: the node is a note again, as it was, with the sources that are still stored.
// $scope: string    the scope
// $rows: list<map>    {id, retired_by, decision}
// $now: datetime    the time of the change
UNWIND $rows AS row
MATCH (:Decision {scope: $scope, id: row.retired_by})-[:ABOUT {role: 'retired'}]->(n:Past {scope: $scope, id: row.id})
MATCH (d:Decision {scope: $scope, id: row.decision})
WITH n, d, row, CASE WHEN n.superseded_at > $now THEN n.superseded_at ELSE $now END AS now
CREATE (p:Past)
SET p = properties(n)
WITH n, p, d, row, now
CALL (n, p) { MATCH (n)-[:FROM]->(x:Source|PastSource) CREATE (p)-[:FROM]->(x) }
REMOVE n:Past
SET n:Note, n.status = n.was, n.was = null, n.keywords = null, n.recorded_at = now, n.revision = n.revision + 1,
    n.superseded_at = datetime('9999-12-31T00:00:00Z')
CREATE (n)-[:WAS]->(p)
CREATE (d)-[:ABOUT {role: 'changed', revision: n.revision}]->(n)
