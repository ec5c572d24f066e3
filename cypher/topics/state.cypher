// The scope's version, its last run, and how many writes came since that one read; no row if there is no such scope.
// $scope: string    the scope
// returns version, run, changed_since
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, coalesce(s.topics_run, '') AS run, s.changed_since AS changed_since
