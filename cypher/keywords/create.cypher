// Store keywords that are not there yet.
// $scope: string    the scope
// $rows: list<map>    {name, key, vector}
UNWIND $rows AS row
MERGE (k:Keyword {scope: $scope, name: row.name})
ON CREATE SET k.key = row.key
WITH k, row WHERE k.embedding IS NULL
CALL db.create.setNodeVectorProperty(k, 'embedding', row.vector)
