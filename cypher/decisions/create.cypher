// Record decisions. What has no note is tied to the source that it is about.
// $scope: string    the scope
// $rows: list<map>    {id, properties, source or null, undoes or null}
UNWIND $rows AS row
MERGE (d:Decision {scope: $scope, id: row.id})
ON CREATE SET d += row.properties
WITH d, row
CALL (d, row) {
  WITH d, row WHERE row.source IS NOT NULL
  MATCH (x:Source {scope: $scope, id: row.source})
  MERGE (d)-[:ABOUT {role: 'source'}]->(x)
}
CALL (d, row) {
  WITH d, row WHERE row.undoes IS NOT NULL
  MATCH (u:Decision {scope: $scope, id: row.undoes})
  SET u.undone_by = row.id
}
FINISH
