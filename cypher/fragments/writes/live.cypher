// Let sources live as their notes do from now on: each has the shortest life of its notes, since whoever reads or quotes it reads all
// of them (docs/lifecycle.md, Policies).
// $write.live: list<map>    {id, begins [ms, null for as before], given: who gave it which class, if that changes}
CALL () {
  UNWIND $write.live AS row
  MATCH (x:Source {scope: $scope, id: row.id})<-[:FROM]-(n:Note)
  WITH x, row, n ORDER BY n.expires_at, n.erase_at, n.id
  WITH x, row, head(collect(n)) AS n, min(n.erase_at) AS erase, collect(n.pinned) AS pinned, head(collect(n.apart)) AS apart
  SET x += row.given, x.begins_at = coalesce(row.begins, x.begins_at)
  SET x.policy = n.policy, x.expires_at = n.expires_at, x.erase_at = erase, x.pinned = any(one IN pinned WHERE one), x.apart = apart
  WITH x
  MATCH (x)-[:WAS]->(p:PastSource)
  SET p.apart = x.apart
}
