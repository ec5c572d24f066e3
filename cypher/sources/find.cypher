// A source, all of it; or as it was before an update.
// $scope: string    the scope
// $id: string    its id
// $hash: string    that of the version that is meant; '' for the present one
// $alive: datetime    the present: what is to be erased by then is gone
// returns source
MATCH (x:Source {scope: $scope, id: $id}) WHERE x.erase_at > $alive
CALL (x) {
  WITH x WHERE $hash IN ['', x.hash] RETURN x AS version
  UNION
  WITH x WHERE NOT $hash IN ['', x.hash]
  MATCH (x)-[:WAS]->(version:PastSource {hash: $hash})
  RETURN version ORDER BY version.superseded_at DESC LIMIT 1
}
RETURN version {.*, said_at: version.said_at.epochMillis, expires_at: version.expires_at.epochMillis, erase_at: version.erase_at.epochMillis} AS source
