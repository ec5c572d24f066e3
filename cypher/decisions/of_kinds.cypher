// Decisions of some kinds that a scope made within a time, the last one first; an undo only if it took notes out.
// $scope: string    the scope
// $kinds: list<string>    these kinds
// $since: datetime    not before
// $until: datetime    not after
// returns decision, notes: how many it took out, of those that have a trace left; what it only rendered anew is none
MATCH (d:Decision {scope: $scope}) WHERE d.version >= 0 AND d.place >= 0 AND d.kind IN $kinds AND d.at >= $since AND d.at <= $until
WITH d, COUNT {
       MATCH (d)-[a:ABOUT]->(n:Note|Past)
       WHERE CASE d.kind WHEN 'undo' THEN a.role = 'retired' ELSE EXISTS {
         MATCH (n)-[:WAS*0..1]->(v) WHERE v.revision = a.revision AND coalesce(v.was, v.status) IN ['deleted', 'archived']
       } END
     } AS notes
WHERE notes > 0 OR d.kind <> 'undo'
RETURN d {.*, at: d.at.epochMillis} AS decision, notes
ORDER BY d.version DESC, d.place DESC
