// A scope has all vectors of a set as of a mark.
// $scope: string    the scope
// $mark: string    as vectors/scopes read it
MATCH (s:Scope {scope: $scope})
SET s.filled = $mark
