// Keep where the folders lay that were ingested.
// $scope: string    the scope
// $folders: string    JSON {id: path}
// returns folders
MATCH (s:Scope {scope: $scope})
SET s.folders = $folders
RETURN s.folders AS folders
