// The notes that wait to be constructed, in the order in which they came.
// $scope: string    the scope
// $without: list<string>    ids of notes to pass over
// $limit: integer    how many
// $alive: datetime    the present: what ends by then can't be read
// returns id
MATCH (n:Note {scope: $scope, status: 'pending'})<-[:ABOUT {role: 'created'}]-(d:Decision) WHERE n.expires_at > $alive AND NOT n.id IN $without
WITH n, min(d.at) AS came
RETURN n.id AS id ORDER BY came, n.created_at, n.id LIMIT $limit
