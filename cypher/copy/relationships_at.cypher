// The relationships that lead from nodes of a scope, but those into blocks and claims.
// $scope: string    the scope
// $ids: list<string>    the places of the nodes in the store
// returns a, b: the places of both nodes, kind, properties
UNWIND $ids AS id
MATCH (a)-[r]->(b) WHERE elementId(a) = id AND a.scope = $scope AND NOT r:IN_BLOCK|SUPPORTS
RETURN id AS a, elementId(b) AS b, type(r) AS kind, properties(r) AS properties
