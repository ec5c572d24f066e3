// What work one scope has for a worker; no row if there is no such scope.
// $scope: string    the scope
// returns pending, changed_since, notes_since, ran [ms] or null for never
MATCH (s:Scope {scope: $scope})
RETURN EXISTS { MATCH (n:Note {scope: $scope, status: 'pending'}) } AS pending, s.changed_since AS changed_since,
       coalesce(s.notes_since, 0) AS notes_since,
       head(COLLECT { MATCH (r:Run {scope: $scope, id: s.topics_run}) RETURN r.at.epochMillis }) AS ran
