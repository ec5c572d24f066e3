// Where the folders lay that were ingested; no row if there is no such scope.
// $scope: string    the scope
// returns folders, JSON {id: path} or null
MATCH (s:Scope {scope: $scope})
RETURN s.folders AS folders
