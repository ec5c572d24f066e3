// Give a scope all properties that it has from now on.
// $scope: string    the scope
// $properties: map    without its name
MATCH (s:Scope {scope: $scope})
SET s = $properties, s.scope = $scope
