// What is wrong with claims.
// $scope: string    the scope
// returns fault
MATCH (c:Claim {scope: $scope}) WHERE c.id >= ''
CALL (c) {
  WITH c WHERE NOT EXISTS { (c)<-[:SUPPORTS]-() }
  RETURN 'has no note that supports it' AS fault
  UNION ALL
  WITH c WHERE EXISTS { (c)<-[:SUPPORTS]-(n) WHERE n.scope <> c.scope OR NOT n:Note }
  RETURN 'is supported by what is no note of its memory' AS fault
  UNION ALL
  WITH c WHERE c.embedding IS NULL
  RETURN 'has no vector' AS fault
}
RETURN 'Claim ' + c.id + ' ' + fault + '.' AS fault
