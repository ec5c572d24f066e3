// All relationships that lead from nodes of a scope.
// $scope: string    the scope; '' for none
// $tenant: string    whose; '' for none
// returns id: its place in the store, a, b: those of both nodes, kind, properties
// use servers/members
MATCH (x)-[r]->(y)
RETURN elementId(r) AS id, elementId(x) AS a, elementId(y) AS b, type(r) AS kind, properties(r) AS properties
