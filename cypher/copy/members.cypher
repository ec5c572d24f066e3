// All nodes of a scope, in an order that does not change: the scope itself, what hangs on it, and all else by labels and ids. Blocks,
// their runs, and claims are left out: they follow from the notes.
// A test holds the labels against the store's own.
// $scope: string    the scope
// $limit: integer    how many at most
// returns id, label, ties: how many relationships lead from it
CALL () {
  MATCH (x:Scope {scope: $scope}) RETURN x
  UNION ALL
  MATCH (:Scope {scope: $scope})-[:SPENT]->(x:Spending) RETURN x ORDER BY x.day
  UNION ALL
  MATCH (x:Source {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id
  UNION ALL
  MATCH (x:PastSource {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id, x.superseded_at, x.hash
  UNION ALL
  MATCH (x:Note {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id
  UNION ALL
  MATCH (x:Past {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id, x.revision, x.recorded_at, x.superseded_at
  UNION ALL
  MATCH (x:Keyword {scope: $scope}) WHERE x.name >= '' RETURN x ORDER BY x.name
  UNION ALL
  MATCH (x:Topic {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id
  UNION ALL
  MATCH (x:Run {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id
  UNION ALL
  MATCH (x:Decision {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id
  UNION ALL
  MATCH (x:Usage {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id
  UNION ALL
  MATCH (x:Retrieval {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id
  UNION ALL
  MATCH (x:Hold {scope: $scope}) WHERE x.id >= '' RETURN x ORDER BY x.id
}
RETURN elementId(x) AS id, labels(x)[0] AS label, COUNT { (x)-[r]->() WHERE NOT r:IN_BLOCK|SUPPORTS } AS ties
LIMIT $limit
