// Store keywords unless they are there, with vectors that rest: writes/gain lets them be found.
// $write.name: list<map>    {name, key, vector}
CALL () {
  UNWIND $write.name AS row
  MERGE (k:Keyword {scope: $scope, name: row.name})
  ON CREATE SET k.key = row.key
  WITH k, row WHERE k.embedding IS NULL AND k.resting IS NULL
  CALL db.create.setNodeVectorProperty(k, 'resting', row.vector)
}
