// Really remove all nodes of a scope, a batch at a time, in transactions of their own.
// $scope: string    the scope to remove
// $whole: boolean    whether the scope itself goes too, by which a worker finds it
// $rows: integer    nodes in one transaction
CALL () {
  MATCH (x:Past {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:PastSource {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Note {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Source {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Keyword {scope: $scope}) WHERE x.name >= '' RETURN x
  UNION ALL
  MATCH (x:Topic {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Run {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Block {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:BlockRun {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Claim {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Hold {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Usage {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Retrieval {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Decision {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Erased {scope: $scope}) WHERE x.erasure >= '' RETURN x
  UNION ALL
  MATCH (:Scope {scope: $scope})-[:SPENT]->(x:Spending) RETURN x
  UNION ALL
  MATCH (x:Scope {scope: $scope}) WHERE $whole RETURN x
}
CALL (x) { DETACH DELETE x } IN TRANSACTIONS OF $rows ROWS
