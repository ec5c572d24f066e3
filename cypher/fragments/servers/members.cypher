// All nodes of a scope, or what is a tenant's beside its scopes, each found by a key.
CALL () {
  MATCH (x:Scope {scope: $scope}) RETURN x
  UNION ALL
  MATCH (:Scope {scope: $scope})-[:SPENT]->(x:Spending) RETURN x
  UNION ALL
  MATCH (x:Erased {scope: $scope}) WHERE x.erasure >= '' RETURN x
  UNION ALL
  MATCH (x:Erasure {scope: $scope}) WHERE x.id >= '' RETURN x
  UNION ALL
  MATCH (x:Receipt {tenant: $tenant}) WHERE x.number >= 1 RETURN x
  UNION ALL
  MATCH (x:Key {tenant: $tenant}) WHERE x.id >= '' RETURN x
  UNION ALL
  // use scopes/members
}
