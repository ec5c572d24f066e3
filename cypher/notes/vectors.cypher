// A page of a scope's readable notes, by id, each with the vector of its context; what waits for one is left out.
// $scope: string    the scope
// $statuses: list<string>    of notes that may be read
// $after: string    id of the last note seen
// $limit: integer    notes on a page
// $alive: datetime    the present: what ends by then can't be read
// returns id, vector
MATCH (n:Note {scope: $scope}) WHERE n.id > $after AND n.status IN $statuses AND n.expires_at > $alive AND n.context_embedding IS NOT NULL
WITH n ORDER BY n.id LIMIT $limit
RETURN n.id AS id, n.context_embedding AS vector ORDER BY id
