// The notes that a note is tied to, both ways. Ties of what is kept apart rest until it is so no more.
// $scope: string    the scope
// $id: string    id of the note
// $alive: datetime    the present: what ends by then can't be read
// returns note (the other one), context, status, kind, score, newer (whether the other one is the newer), decision
MATCH (n:Note {scope: $scope, id: $id})-[r:RELATED|SUPERSEDES]-(o:Note)
WHERE o.expires_at > $alive AND n.apart IS NULL AND o.apart IS NULL
RETURN o.id AS note, o.context AS context, o.status AS status,
       CASE type(r) WHEN 'SUPERSEDES' THEN 'supersede' ELSE r.kind END AS kind, r.score AS score,
       endNode(r) = n AS newer, r.decision AS decision
ORDER BY r.score DESC, note
