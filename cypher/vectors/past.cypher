// A page of the former versions of notes that have vectors of another set and lack those of this one, by id: what is cut off of an id comes in another round.
// $scope: string    the scope
// $raw: string    name of the other set's vectors of raw texts
// $after: string    id of the last note seen
// $limit: integer    versions on a page
// returns id, stamp, raw, context
MATCH (n:Past {scope: $scope})
WHERE n.id > $after AND n[$raw] IS NOT NULL AND (n.raw_embedding IS NULL OR n.context_embedding IS NULL)
WITH n ORDER BY n.id LIMIT $limit
RETURN n.id AS id, n.stamp AS stamp, n.raw AS raw, n.context AS context ORDER BY id
