// Which of some claims are stored.
// $scope: string    the scope
// $ids: list<string>    theirs
// returns id
UNWIND $ids AS id
MATCH (c:Claim {scope: $scope, id: id})
RETURN id
