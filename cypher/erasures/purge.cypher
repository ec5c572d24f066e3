// Remove all that an erasure of everything took, a batch at a time, in transactions of their own.
// $scope: string    the scope
// $id: string    the erasure
// $rows: integer    nodes in one transaction
MATCH (x:Erased {scope: $scope, erasure: $id})
CALL (x) { DETACH DELETE x } IN TRANSACTIONS OF $rows ROWS
