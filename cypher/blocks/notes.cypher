// A page of the notes that blocks are made of, by id: those that can be read, that have vectors, and that are not kept apart.
// $scope: string    the scope
// $dimensions: integer    length of the embedder's vectors
// $after: string    id of the last note seen
// $limit: integer    notes on a page
// $alive: datetime    the present: what ends by then can't be read
// returns id, session, seq, at [ms], revision, stamp, vector (of its context)
MATCH (n:Note {scope: $scope})
WHERE n.id > $after AND n.status = 'active' AND n.expires_at > $alive AND n.apart IS NULL AND n.context_embedding IS NOT NULL
WITH n ORDER BY n.id LIMIT $limit
RETURN n.id AS id, n.session AS session, n.seq AS seq, n.said_at.epochMillis AS at, n.revision AS revision, n.stamp AS stamp,
       vector(n.context_embedding, $dimensions, FLOAT32) AS vector
ORDER BY id
