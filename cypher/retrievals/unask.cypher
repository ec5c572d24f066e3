// Forget what was asked in some retrievals.
// $scope: string    the reader's
// $ids: list<string>    the retrievals
// returns forgotten
UNWIND $ids AS id
MATCH (r:Retrieval {scope: $scope, id: id})
SET r.question = null
RETURN count(r) AS forgotten
