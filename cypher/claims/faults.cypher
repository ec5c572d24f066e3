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
  UNION ALL
  WITH c WHERE c.shared_as IS NOT NULL AND (c.shared_in <> split(c.scope, '/')[0] + '/' OR c.scope = c.shared_in)
  RETURN 'is marked for what users of another tenant share, or is of no user' AS fault
  UNION ALL
  WITH c WHERE (c.shared_as IS NULL) <> (c.shared_in IS NULL)
  RETURN 'is marked in part for what users share' AS fault
  UNION ALL
  WITH c WHERE c.shared_as IS NOT NULL AND (NOT c.text =~ "[\\p{L}' ,-]+" OR substring(c.text, 1) =~ ".*\\p{Lu}.*")
  RETURN 'is marked for what users share, though it holds a name or a number' AS fault
}
RETURN 'Claim ' + c.id + ' ' + fault + '.' AS fault
