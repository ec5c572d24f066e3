// The notes that wait to be constructed, oldest first.
// $scope: string    the scope
// $limit: integer    how many
// returns id
MATCH (n:Note {scope: $scope})
WHERE n.created_at > datetime('0001-01-01') AND n.id >= '' AND n.status = 'pending'
RETURN n.id AS id ORDER BY n.created_at, n.id LIMIT $limit
