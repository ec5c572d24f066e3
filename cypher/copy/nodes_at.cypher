// Nodes of a scope by their places in the store, those that are still there.
// $scope: string    the scope
// $ids: list<string>    their places
// returns id, labels, properties, told [[source, part]]: what a version of a note is of
UNWIND $ids AS id
MATCH (x) WHERE elementId(x) = id AND x.scope = $scope
RETURN id, labels(x) AS labels, properties(x) AS properties,
       CASE WHEN x:Note OR x:Past THEN [(x)-[f:FROM]->(s) | [s.id, f.part]] ELSE [] END AS told
