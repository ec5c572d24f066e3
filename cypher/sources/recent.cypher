// The last turns of a session that may be repeated to a model, the newest first: what ended, was deleted or is kept apart may not.
// A turn without a note, such as small talk, is one too.
// $scope: string    the scope
// $session: string    the session
// $roles: list<string>    of the turns
// $statuses: list<string>    of notes that hold, or held until they were replaced
// $alive: datetime    the present: what ends by then can't be read
// $limit: integer    how many
// returns source
MATCH (x:Source {scope: $scope, session: $session})
WHERE x.seq >= 0 AND x.role IN $roles AND x.expires_at > $alive AND x.apart IS NULL
  AND (NOT EXISTS { (x)<-[:FROM]-(:Note) } OR EXISTS { (x)<-[:FROM]-()<-[:SUMS*0..1]-(n:Note) WHERE n.status IN $statuses AND n.expires_at > $alive })
WITH x ORDER BY x.seq DESC LIMIT $limit
RETURN x {.*, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} AS source
ORDER BY x.seq DESC
