// Record a run.
// $scope: string    the scope
// $id: string    the run
// $properties: map    what it found and did
MERGE (r:Run {scope: $scope, id: $id})
ON CREATE SET r += $properties
