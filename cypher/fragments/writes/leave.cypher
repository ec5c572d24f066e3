// Take sources out; those before and after them in a session follow each other.
// $write.leave: list<string>    ids of sources
CALL () {
  UNWIND $write.leave AS id
  MATCH (x:Source {scope: $scope, id: id})
  SET x.superseded_at = $now
  REMOVE x:Source
  SET x:PastSource
  WITH x
  // what it told of a profile is taken back with it
  CALL (x) {
    MATCH (d:Decision {scope: $scope, kind: 'profile'})-[:ABOUT {role: 'source'}]->(x) WHERE d.undone_by IS NULL
    SET d.undone_by = head([row IN $write.decide WHERE row.undoes IS NOT NULL | row.id])
  }
  OPTIONAL MATCH (p:Source)-[before:NEXT]->(x)
  OPTIONAL MATCH (x)-[after:NEXT]->(y:Source)
  DELETE before, after
  WITH p, y WHERE p IS NOT NULL AND y IS NOT NULL
  MERGE (p)-[:NEXT]->(y)
}
