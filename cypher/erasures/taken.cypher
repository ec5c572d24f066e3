// The notes that an erasure of everything took, and that are still there.
// $scope: string    the scope
// $id: string    the erasure
// returns id
MATCH (x:Erased {scope: $scope, erasure: $id}) WHERE x.raw IS NOT NULL
RETURN DISTINCT x.id AS id ORDER BY id
