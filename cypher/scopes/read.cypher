// The scope's version, language and size; no row if there is no such scope.
// $scope: string    the scope
// returns version, language, notes
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, s.language AS language, s.notes AS notes
