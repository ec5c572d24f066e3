// Really remove all nodes of a scope, a batch at a time, in transactions of their own.
// $scope: string    the scope to remove
// $whole: boolean    whether the scope itself goes too, by which a worker finds it
// $rows: integer    nodes in one transaction
CALL () {
  // use scopes/members
  UNION ALL
  MATCH (x:Erased {scope: $scope}) WHERE x.erasure >= '' RETURN x
  UNION ALL
  MATCH (:Scope {scope: $scope})-[:SPENT]->(x:Spending) RETURN x
  UNION ALL
  MATCH (x:Scope {scope: $scope}) WHERE $whole RETURN x
}
CALL (x) { DETACH DELETE x } IN TRANSACTIONS OF $rows ROWS
