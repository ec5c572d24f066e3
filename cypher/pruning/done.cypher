// Say that a scope's history was pruned, and until when its decisions.
// $scope: string    the scope
// $now: datetime    the time of the pruning
// $decisions: datetime    until when decisions went, null for none
// returns pruned_at [ms]
MATCH (s:Scope {scope: $scope})
SET s.pruned_at = $now, s.decisions_since = coalesce($decisions, s.decisions_since)
RETURN s.pruned_at.epochMillis AS pruned_at
