// The notes that a scope was told since it evolved last, that messages made or joined: the newest, the last one first. None that is kept apart, no code and no items.
// $scope: string    the scope
// $limit: integer    how many, at most
// $alive: datetime    the present: what ends by then can't be read
// returns id
MATCH (s:Scope {scope: $scope})
MATCH (d:Decision {scope: $scope}) WHERE d.version > coalesce(s.evolved_to, 0) AND d.place >= 0
  AND d.kind IN ['append', 'link', 'merge', 'supersede'] AND d.undone_by IS NULL
MATCH (d)-[a:ABOUT]->(n:Note) WHERE a.role IN ['created', 'changed'] AND n.status = 'active' AND n.expires_at > $alive AND n.apart IS NULL
  AND NOT EXISTS { (n)-[:FROM]->(x:Source) WHERE x.kind IN ['code', 'item'] }
WITH DISTINCT n
ORDER BY n.created_at DESC, n.id LIMIT $limit
RETURN n.id AS id
