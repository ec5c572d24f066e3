// Say how far a scope has evolved.
// $scope: string    the scope
// $version: integer    the version up to which what it was told has been looked at
MATCH (s:Scope {scope: $scope})
SET s.lock = true
SET s.evolved_to = CASE WHEN s.evolved_to > $version THEN s.evolved_to ELSE $version END
