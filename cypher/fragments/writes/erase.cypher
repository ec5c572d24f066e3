// Remove notes with their former versions (docs/erasure.md).
// $write.erase: list<string>    ids of notes
CALL () {
  UNWIND $write.erase AS id
  MATCH (n:Note {scope: $scope, id: id})
  OPTIONAL MATCH (n)-[:WAS]->(p:Past)
  DETACH DELETE p, n
}
