// The erasures of a scope that are begun and not done.
// $scope: string    the scope
// returns erasure
MATCH (e:Erasure {scope: $scope}) WHERE e.id >= ''
RETURN e {.*, begun: e.begun.epochMillis} AS erasure ORDER BY e.begun, e.id
