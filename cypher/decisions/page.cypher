// Decisions of a scope, newest first.
// $scope: string    the scope
// $before: datetime    only those at or before this time
// $limit: integer    how many
// returns decision
MATCH (d:Decision {scope: $scope}) WHERE d.at <= $before
WITH d ORDER BY d.at DESC, d.version DESC, d.place DESC LIMIT $limit
RETURN d {.*, at: d.at.epochMillis} AS decision ORDER BY d.at DESC, d.version DESC, d.place DESC
