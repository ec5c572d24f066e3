// Record a run over blocks.
// $scope: string    the scope
// $id: string    the run
// $properties: map    what it found and did
MERGE (r:BlockRun {scope: $scope, id: $id})
ON CREATE SET r += $properties
