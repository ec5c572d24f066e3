// One decision.
// $scope: string    the scope
// $id: string    its id
// returns decision
MATCH (d:Decision {scope: $scope, id: $id})
RETURN d {.*, at: d.at.epochMillis} AS decision
