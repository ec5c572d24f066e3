// Say how far an erasure has come.
// $scope: string    the scope
// $id: string    the erasure
// $state: string    hidden or removed
// returns id
MATCH (e:Erasure {scope: $scope, id: $id})
SET e.state = $state
RETURN e.id AS id
