// The scope's version and language; no row if there is no such scope.
// $scope: string    the scope
// returns version, language
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, s.language AS language
