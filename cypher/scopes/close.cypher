// Remove a scope that holds nothing; one with a cap of its own, which was given since it was emptied, stays.
// $scope: string    the scope
// returns scope
MATCH (s:Scope {scope: $scope}) WHERE s.cap IS NULL
DETACH DELETE s
RETURN $scope AS scope
