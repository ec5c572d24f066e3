// Who speaks in a memory.
// $scope: string    the scope
// returns name
MATCH (x:Source {scope: $scope}) WHERE x.id >= '' AND x.speaker > ''
RETURN DISTINCT x.speaker AS name
