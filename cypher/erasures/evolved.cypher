// The notes that evolutions changed, or made of others, while a chat model saw some others: their contexts and tags may hold words of these.
// $scope: string    the scope
// $ids: list<string>    these others
// returns id
MATCH (d:Decision {scope: $scope}) WHERE d.version >= 0 AND d.place >= 0 AND d.kind = 'evolve' AND d.model <> ''
  AND (d.note IN $ids OR any(part IN split(d.considered, '"note": "')[1..] WHERE split(part, '"')[0] IN $ids))
MATCH (d)-[a:ABOUT]->(n:Note) WHERE a.role = 'created' OR a.role = 'changed' AND n.status <> 'archived'
RETURN DISTINCT n.id AS id
ORDER BY id
