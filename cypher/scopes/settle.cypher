// Work out anew when the first of a scope's notes ends that no sweep has taken out yet, and when the first that is archived, or a
// source, is to be erased. Done after a sweep is committed, so that whoever reads it finds the sweep done.
// $scope: string    the scope
// $statuses: list<string>    of notes that are not archived
// $alive: datetime    the present: what is to be erased by then is erased, or held
// returns next_expiry [ms] or null for never
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s, datetime('9999-12-31T00:00:00Z') AS never
OPTIONAL CALL (never) {
  UNWIND $statuses AS status
  MATCH (n:Note {scope: $scope, status: status}) WHERE n.expires_at < never
  RETURN n.expires_at AS at ORDER BY at LIMIT 1
  UNION ALL
  WITH never
  MATCH (n:Note {scope: $scope}) WHERE n.erase_at > $alive AND n.erase_at < never
  RETURN n.erase_at AS at ORDER BY at LIMIT 1
  UNION ALL
  WITH never
  MATCH (x:Source {scope: $scope}) WHERE x.erase_at > $alive AND x.erase_at < never
  RETURN x.erase_at AS at ORDER BY at LIMIT 1
  UNION ALL
  WITH never
  MATCH (x:PastSource {scope: $scope}) WHERE x.id >= '' AND x.erase_at > $alive AND x.erase_at < never
  RETURN x.erase_at AS at ORDER BY at LIMIT 1
}
WITH s, min(at) AS first
SET s.next_expiry = first
RETURN first.epochMillis AS next_expiry
