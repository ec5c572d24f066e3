// Remove runs that looked for topics, the budget of which is over, but the last one.
// $scope: string    the scope
// $before: datetime    until when a run must have been
// $rows: integer    how many at once
// returns removed
MATCH (s:Scope {scope: $scope})
MATCH (r:Run {scope: $scope}) WHERE r.id >= '' AND r.at < $before AND r.id <> coalesce(s.topics_run, '')
WITH r LIMIT $rows
DETACH DELETE r
RETURN count(*) AS removed
