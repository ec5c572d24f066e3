// Say that the utilities of a scope's notes were looked at.
// $scope: string    the scope
// $now: datetime    when
MATCH (s:Scope {scope: $scope})
SET s.lock = true
SET s.weighed_at = $now
