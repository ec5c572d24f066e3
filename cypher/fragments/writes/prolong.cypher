// Let what lives as long as a session go on with it (docs/lifecycle.md, Policies). Notes get no new version: nothing else of them changes,
// and a long talk would have as many versions as turns.
// $write.prolong: list<map>    {session, policy, expires_at, erase_at [ms, null for never]}
CALL () {
  UNWIND $write.prolong AS row
  WITH row, datetime({epochMillis: row.expires_at}) AS ends,
       CASE WHEN row.erase_at IS NULL THEN datetime('9999-12-31T00:00:00Z') ELSE datetime({epochMillis: row.erase_at}) END AS erase
  MATCH (x:Source {scope: $scope, session: row.session}) WHERE x.seq >= 0 AND x.policy = row.policy AND x.expires_as IS NULL
    AND x.expires_at > $now AND x.expires_at < ends
  SET x.expires_at = ends, x.erase_at = erase, x.begins_at = $now.epochMillis
  WITH x, row, ends, erase
  MATCH (x)<-[:FROM]-()<-[:SUMS*0..1]-(n:Note) WHERE n.policy = row.policy AND n.expires_at > $now AND n.expires_at < ends
  SET n.expires_at = ends, n.erase_at = erase, n.stamp = n.stamp + 1
  WITH n, row, ends, erase
  MATCH (n)-[:SUMS*0..1]->()-[:FROM]->(y:Source) WHERE y.policy = row.policy AND y.expires_at < ends // other sessions tell it too
  SET y.expires_at = ends, y.erase_at = erase
}
