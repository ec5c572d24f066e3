// Remove relationships by their places in the store.
// $scope: string    the scope of the nodes that they lead from; '' for none
// $ids: list<string>    their places
UNWIND $ids AS id
MATCH (x)-[r]->() WHERE elementId(r) = id AND x.scope = $scope
DELETE r
