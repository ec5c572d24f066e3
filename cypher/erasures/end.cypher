// End an erasure, whose receipt is written, or all of a scope that is purged.
// $scope: string    the scope
// $id: string    the erasure, null for all
// returns id
MATCH (e:Erasure {scope: $scope}) WHERE e.id >= '' AND ($id IS NULL OR e.id = $id)
WITH e, e.id AS id
DELETE e
RETURN id
