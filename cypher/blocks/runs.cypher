// The runs over blocks of a scope, newest first.
// $scope: string    the scope
// $limit: integer    how many
// returns run
MATCH (r:BlockRun {scope: $scope}) WHERE r.id >= ''
WITH r ORDER BY r.at DESC, r.id LIMIT $limit
RETURN r {.*, at: r.at.epochMillis} AS run ORDER BY r.at DESC, r.id
