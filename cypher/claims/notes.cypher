// A page of the notes that no run over claims has read as they are, or that were recalled since the last one, the oldest first: those
// that can be read, or that were put into the archive before any read them, and that are not kept apart.
// $scope: string    the scope
// $after: datetime    created_at of the last note seen
// $after_id: string    its id
// $limit: integer    notes on a page
// $recalled: datetime    since when a note must have been shown to be read anew, null where none is
// $alive: datetime    the present: what ends by then can't be read
// returns id, stamp, recalled: whether it was read before, created_at [ms], said: what users say in it, and documents; of code, and of what others say, nothing; speakers; from: of its
//   sources {kind, role, trust_as}
MATCH (n:Note {scope: $scope})
WHERE n.created_at >= $after AND n.id >= '' AND (n.created_at > $after OR n.id > $after_id) AND n.status IN ['active', 'archived'] AND n.expires_at > $alive AND n.apart IS NULL
  AND (coalesce(n.abstracted, 0) <> n.stamp OR $recalled IS NOT NULL AND EXISTS { (u:Usage {scope: $scope, id: n.id}) WHERE u.last_shown > $recalled })
WITH n ORDER BY n.created_at, n.id LIMIT $limit
RETURN n.id AS id, n.stamp AS stamp, coalesce(n.abstracted, 0) = n.stamp AS recalled, n.created_at.epochMillis AS created_at, CASE n.constructed_by WHEN 'user' THEN n.raw ELSE COLLECT {
  MATCH (n)-[f:FROM]->(x:Source) WHERE x.kind IN ['message', 'document'] AND x.role IN ['', 'user']
  WITH x, f ORDER BY x.said_at, x.session, x.seq, x.id
  RETURN
    // use sources/words source=x part=coalesce(f.part,0)
} END AS said, COLLECT { MATCH (n)-[:FROM]->(x:Source) RETURN DISTINCT x.speaker } AS speakers, [(n)-[:FROM]->(x:Source) | x {.kind, .role, .trust_as}] AS from
ORDER BY created_at, id
