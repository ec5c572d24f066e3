// Take notes out of the memory, as when their creation is undone: each becomes its own Past node, with its sources.
// $scope: string    the scope
// $rows: list<map>    {id, decision}
// $now: datetime    the time of the change
UNWIND $rows AS row
MATCH (n:Note {scope: $scope, id: row.id})
MATCH (d:Decision {scope: $scope, id: row.decision})
SET n.was = n.status, n.status = 'past', n.superseded_at = CASE WHEN n.recorded_at > $now THEN n.recorded_at ELSE $now END,
    n.keywords = COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }
CREATE (d)-[:ABOUT {role: 'retired', revision: n.revision + 1}]->(n)
REMOVE n:Note
SET n:Past
WITH n
OPTIONAL MATCH (n)-[r:HAS_KEYWORD|RELATED|SUPERSEDES]-()
DELETE r
