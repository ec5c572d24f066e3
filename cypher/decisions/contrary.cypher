// What contradicts notes or took their place: the ties of these kinds that lead from or to one of them, also those taken back.
// $scopes: list<string>    the scopes read
// $ids: list<string>    ids of notes
// $statuses: list<string>    that the notes at both ends may have
// $known_at: datetime    neither note was made later
// $alive: datetime    what ends by then can't be read: the present, or the time of a look back
// $present: datetime    what is to be erased by then is gone
// returns newer, older, kind (conflict, change, supersede or untied), newer_said, older_said (milliseconds), same_speaker, former,
//   newer_from, older_from: of their sources {kind, role, trust_as}
UNWIND $scopes AS scope
UNWIND $ids AS id
MATCH (n:Note {scope: scope, id: id})
CALL (n) {
  MATCH (n)-[r:RELATED]-(:Note) WHERE r.kind IN ['conflict', 'change']
  RETURN r, r.kind AS kind
  UNION ALL
  MATCH (n)-[r:SUPERSEDES]-(:Note)
  RETURN r, 'supersede' AS kind
  UNION ALL
  MATCH (n)-[r:UNTIED]-(:Note)
  RETURN r, 'untied' AS kind
}
WITH DISTINCT r, kind, startNode(r) AS newer, endNode(r) AS older
WHERE newer.scope IN $scopes AND older.scope = newer.scope AND newer.apart IS NULL AND older.apart IS NULL
  AND newer.status IN $statuses AND newer.expires_at > $alive AND newer.erase_at > $present
  AND older.status IN $statuses AND older.expires_at > $alive AND older.erase_at > $present
  AND newer.created_at <= $known_at AND older.created_at <= $known_at
RETURN newer.id AS newer, older.id AS older, kind,
       newer.said_at.epochMillis AS newer_said, older.said_at.epochMillis AS older_said,
       newer.speaker = older.speaker AND newer.role = older.role AS same_speaker,
       coalesce(r.former, '') AS former,
       [(newer)-[:SUMS*0..1]->()-[:FROM]->(x:Source) | x {.kind, .role, .trust_as}] AS newer_from,
       [(older)-[:SUMS*0..1]->()-[:FROM]->(x:Source) | x {.kind, .role, .trust_as}] AS older_from
ORDER BY newer, older
