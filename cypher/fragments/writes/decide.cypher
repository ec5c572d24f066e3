// Record the decisions that other operations name, and tell a decision by which it is undone (docs/changes.md, Why).
// $write.decide: list<map>    {id, properties, source or null, undoes or null}
CALL () {
  UNWIND $write.decide AS row
  CREATE (d:Decision {scope: $scope, id: row.id})
  SET d += row.properties, d.at = $now
  WITH d, row
  CALL (d, row) {
    WITH d, row WHERE row.source IS NOT NULL
    MATCH (x:Source {scope: $scope, id: row.source})
    CREATE (d)-[:ABOUT {role: 'source'}]->(x)
  }
  CALL (d, row) {
    WITH d, row WHERE row.undoes IS NOT NULL
    MATCH (u:Decision {scope: $scope, id: row.undoes})
    SET u.undone_by = row.id
  }
}
