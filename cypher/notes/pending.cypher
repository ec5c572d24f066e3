// The notes that wait to be constructed, in the order in which they came.
// $scope: string    the scope
// $limit: integer    how many
// returns id
MATCH (n:Note {scope: $scope, status: 'pending'})<-[:ABOUT {role: 'created'}]-(d:Decision)
WITH n, min(d.at) AS came
RETURN n.id AS id ORDER BY came, n.created_at, n.id LIMIT $limit
