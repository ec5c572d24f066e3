// The notes that wait to be constructed, in the order in which they came.
// $scope: string    the scope
// $without: list<string>    ids of notes to pass over
// $limit: integer    how many
// returns id
MATCH (n:Note {scope: $scope, status: 'pending'})<-[:ABOUT {role: 'created'}]-(d:Decision) WHERE NOT n.id IN $without
WITH n, min(d.at) AS came
RETURN n.id AS id ORDER BY came, n.created_at, n.id LIMIT $limit
