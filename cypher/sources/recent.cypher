// The last turns of a session that may be repeated to a model, the newest first: what ended, was deleted or is kept apart may not.
// A turn that never had a note, such as small talk, is one too, unless it repeats what may not be repeated.
// $scope: string    the scope
// $session: string    the session
// $roles: list<string>    of the turns
// $statuses: list<string>    of notes that hold, or held until they were replaced
// $alive: datetime    the present: what ends by then can't be read
// $limit: integer    how many
// returns source, parts: the passages of it that may be repeated (0, unless the source is cut into passages)
MATCH (x:Source {scope: $scope, session: $session})
WHERE x.seq >= 0 AND x.role IN $roles AND x.expires_at > $alive AND x.apart IS NULL
CALL (x) {
  UNWIND range(0, coalesce(size(x.cuts), 0)) AS part
  WITH x, part
  WHERE EXISTS {
      MATCH (x)<-[f:FROM]-(:Note)<-[:SUMS*0..1]-(n:Note)
      WHERE coalesce(f.part, 0) = part AND n.status IN $statuses AND n.expires_at > $alive AND n.apart IS NULL
    }
    // one that a note told and none tells any more was taken out of it
    OR NOT EXISTS { MATCH (x)<-[f:FROM]-(:Note|Past) WHERE coalesce(f.part, 0) = part }
      AND NOT EXISTS {
        MATCH (d:Decision {kind: 'discard'})-[:ABOUT {role: 'source'}]->(x)
        UNWIND split(d.considered, '"note": "')[1..] AS repeated
        WITH split(repeated, '"')[0] AS id
        WHERE NOT EXISTS { MATCH (n:Note {scope: $scope, id: id}) WHERE n.status IN $statuses AND n.expires_at > $alive AND n.apart IS NULL }
        RETURN id
      }
  WITH part ORDER BY part
  RETURN collect(part) AS parts
}
WITH x, parts WHERE size(parts) > 0
WITH x, parts ORDER BY x.seq DESC LIMIT $limit
RETURN x {.*, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} AS source, parts
ORDER BY x.seq DESC
