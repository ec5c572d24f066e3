// Store sources, each after the turn before it.
// $scope: string    the scope
// $rows: list<map>    {id, previous: id or null, properties}
UNWIND $rows AS row
MERGE (x:Source {scope: $scope, id: row.id})
ON CREATE SET x += row.properties
WITH x, row WHERE row.previous IS NOT NULL
MATCH (p:Source {scope: $scope, id: row.previous})
MERGE (p)-[:NEXT]->(x)
