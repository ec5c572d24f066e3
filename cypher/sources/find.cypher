// One source, all of it.
// $scope: string    the scope
// $id: string    its id
// returns source
MATCH (x:Source {scope: $scope, id: $id})
RETURN x {.*, said_at: x.said_at.epochMillis} AS source
