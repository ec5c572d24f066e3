// Remove runs that looked for topics or built blocks, the budget of which is over, but the last one of each.
// $scope: string    the scope
// $before: datetime    until when a run must have been
// $rows: integer    how many at once
// returns removed
MATCH (s:Scope {scope: $scope})
CALL (s) {
  MATCH (r:Run {scope: $scope}) WHERE r.id >= '' AND r.at < $before AND r.id <> coalesce(s.topics_run, '')
  RETURN r
  UNION ALL
  MATCH (r:BlockRun {scope: $scope}) WHERE r.id >= '' AND r.at < $before AND r.id <> coalesce(s.blocks_run, '')
  RETURN r
}
WITH r LIMIT $rows
DETACH DELETE r
RETURN count(*) AS removed
