// Nodes by their places in the store, those that are still there and of a scope.
// $scope: string    the scope; '' for none
// $tenant: string    whose; '' for none
// $ids: list<string>    their places
// returns id, labels, properties
UNWIND $ids AS id
MATCH (x) WHERE elementId(x) = id AND (x.scope = $scope OR x.tenant = $tenant)
RETURN id, labels(x) AS labels, properties(x) AS properties
