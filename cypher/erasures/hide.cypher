// Begin an erasure: nothing reads from now on what it erases, nor what may quote it until that is made anew. Nothing happens, and
// there is no row, if somebody wrote since the scope's version was read.
// $scope: string    the scope
// $version: integer    as it was when the plan was made
// $id: string    the erasure's id
// $properties: map    the erasure's own
// $ids: list<string>    the sources to erase
// $whole: list<string>    the notes to erase
// $kept: list<string>    notes to make anew
// $losing: list<string>    of these those that lose sources
// returns version: what it is now
// use scopes/at_version
SET s.version = s.version + 1, s.changed_since = s.changed_since + 1, s.next_expiry = datetime('0001-01-01T00:00:00Z')
WITH s.version AS version, datetime('0001-01-01T00:00:00Z') AS hidden
MERGE (e:Erasure {scope: $scope, id: $id})
SET e += $properties
WITH version, hidden
CALL (hidden) {
  UNWIND $ids AS id
  MATCH (x:Source|PastSource {scope: $scope, id: id})
  SET x.expires_at = hidden, x.erase_at = hidden
}
CALL (hidden) {
  UNWIND $whole AS id
  MATCH (n:Note|Past {scope: $scope, id: id})
  SET n.expires_at = hidden, n.erase_at = hidden
}
CALL (hidden) {
  UNWIND $kept AS id
  MATCH (n:Note {scope: $scope, id: id})
  SET n.kept_expires = coalesce(n.kept_expires, n.expires_at), n.kept_erase = coalesce(n.kept_erase, n.erase_at)
  SET n.expires_at = hidden, n.erase_at = hidden
}
CALL (hidden) {
  UNWIND $kept AS id
  MATCH (p:Past {scope: $scope, id: id})
  SET p.expires_at = hidden, p.erase_at = hidden
}
// blocks hold vectors made of theirs, and perhaps words
CALL () {
  UNWIND $whole + $kept AS id
  MATCH (:Note {scope: $scope, id: id})-[:IN_BLOCK|SUPPORTS]->(:Block)-[:PART_OF*0..]->(b:Block)
  // use blocks/stale block=b
}
// claims are in their words; what other notes say of the same is found again by the next run
CALL () {
  UNWIND $whole + $kept AS id
  MATCH (:Note {scope: $scope, id: id})-[:SUPPORTS]->(c:Claim)
  WITH DISTINCT c
  CALL (c) { MATCH (n:Note)-[:SUPPORTS]->(c) SET n.abstracted = null }
  DETACH DELETE c
}
CALL () {
  UNWIND $losing AS id
  MATCH (n:Note {scope: $scope, id: id})-[f:FROM]->(x:Source|PastSource) WHERE x.id IN $ids
  DELETE f
}
// ties that quote, or that were judged by what is erased
CALL () {
  UNWIND $losing AS id
  MATCH (:Note {scope: $scope, id: id})-[r:RELATED|SUPERSEDES|UNTIED]-(:Note)
  WHERE r.former IS NOT NULL OR EXISTS { MATCH (d:Decision {scope: $scope, id: r.decision}) WHERE any(x IN d.sources WHERE x IN $ids) }
  WITH DISTINCT r
  DELETE r
}
CALL (hidden) {
  MATCH (h:Source {scope: $scope, erase_at: hidden})
  WITH DISTINCT h  // else the turns of all scopes are walked through where they seem to be few
  MATCH (h)-[r:NEXT]->(y:Source) WHERE y.erase_at > hidden
  OPTIONAL MATCH (p:Source)-[:NEXT]->(z:Source) ((a:Source)-[:NEXT]->(b:Source) WHERE a.erase_at = hidden AND b.erase_at = hidden){0,} (h)
  WHERE p.erase_at > hidden AND z.erase_at = hidden
  DELETE r
  WITH p, y WHERE p IS NOT NULL
  MERGE (p)-[:NEXT]->(y)
}
CALL () {
  MATCH (d:Decision {scope: $scope}) WHERE d.id >= ''
  WITH d, any(x IN d.sources WHERE x IN $ids) AS told
  WITH d, told, told OR EXISTS { (d)-[:ABOUT]->(n:Note|Past) WHERE n.id IN $whole OR n.id IN $kept } AS about
  WHERE about OR any(part IN split(d.considered, '"note": "')[1..] WHERE split(part, '"')[0] IN $whole OR split(part, '"')[0] IN $kept)
  SET d += CASE WHEN told THEN {delta: null, subject: null, hash: null} ELSE {} END
  SET d.evidence = '', d.considered = '[]', d.sources = [x IN d.sources WHERE NOT x IN $ids],
      d.note = CASE WHEN d.note IN $whole THEN '' ELSE d.note END, d.scrubbed_by = CASE WHEN about THEN $id ELSE d.scrubbed_by END
}
RETURN version
