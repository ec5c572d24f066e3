// Change by how many readable notes keywords occur together; a pair of none is no more (MemFly, section 3.2; docs/architecture.md, Topics).
// $write.pair: list<map>    {a, b, change}, a before b
CALL () {
  UNWIND $write.pair AS row
  MATCH (a:Keyword {scope: $scope, name: row.a})
  MATCH (b:Keyword {scope: $scope, name: row.b})
  MERGE (a)-[r:CO_OCCUR]->(b)
  ON CREATE SET r.weight = 0
  SET r.weight = r.weight + row.change
  WITH r WHERE r.weight <= 0
  DELETE r
}
