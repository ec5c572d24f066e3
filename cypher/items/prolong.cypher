// Let items that were read live on. No new version: nothing else of them changes, and each read would make one.
// $scope: string    the scope
// $rows: list<map>    {id: of the source, expires_at [ms], erase_at [ms, null for never]}
// $statuses: list<string>    of notes that can be read
// $alive: datetime    the present: what ended by then comes back by no read
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s
UNWIND $rows AS row
WITH row, datetime({epochMillis: row.expires_at}) AS ends,
     CASE WHEN row.erase_at IS NULL THEN datetime('9999-12-31T00:00:00Z') ELSE datetime({epochMillis: row.erase_at}) END AS erase
MATCH (x:Source {scope: $scope, id: row.id}) WHERE x.kind = 'item' AND x.expires_at > $alive AND x.expires_at < ends
SET x.expires_at = ends, x.erase_at = erase, x.expires_as = row.expires_at
WITH x, ends, erase
MATCH (x)<-[:FROM]-(n:Note) WHERE n.status IN $statuses AND n.expires_at > $alive AND n.expires_at < ends
SET n.expires_at = ends, n.erase_at = erase, n.stamp = n.stamp + 1
