// What contradicts notes or took their place: the ties of these kinds that lead from or to one of them.
// $scopes: list<string>    the scopes read
// $ids: list<string>    ids of notes
// $statuses: list<string>    that the notes at both ends may have
// $known_at: datetime    neither note was made later
// returns newer, older, kind (conflict or supersede), newer_said, older_said (milliseconds)
UNWIND $scopes AS scope
UNWIND $ids AS id
MATCH (n:Note {scope: scope, id: id})-[r:RELATED|SUPERSEDES]-(o:Note)
WHERE (type(r) = 'SUPERSEDES' OR r.kind = 'conflict')
  AND n.scope IN $scopes AND o.scope = n.scope
  AND n.status IN $statuses AND o.status IN $statuses
  AND n.created_at <= $known_at AND o.created_at <= $known_at
WITH DISTINCT r, startNode(r) AS newer, endNode(r) AS older
RETURN newer.id AS newer, older.id AS older,
       CASE type(r) WHEN 'SUPERSEDES' THEN 'supersede' ELSE 'conflict' END AS kind,
       newer.said_at.epochMillis AS newer_said, older.said_at.epochMillis AS older_said
ORDER BY newer, older
