// How much is still there of what an erasure of everything took.
// $scope: string    the scope
// $id: string    the erasure
// returns nodes
MATCH (x:Erased {scope: $scope, erasure: $id})
RETURN count(x) AS nodes
