// Store blocks, each behind what it holds; nobody finds them yet. One that is there already, and whose notes have changed, gets
// what follows from them anew, and loses what a model wrote of them.
// $scope: string    the scope
// $rows: list<map>    {id, made_from, level, leaves, notes, distance, first_at, last_at [ms], vector, own: ids of a leaf's notes,
//   parts: ids of the two blocks of another}
UNWIND $rows AS row
MERGE (b:Block {scope: $scope, id: row.id})
ON CREATE SET b.level = row.level, b.leaves = row.leaves, b.notes = row.notes, b.entered = -1, b.left = -1
SET b.state = 'new', b.made_from = row.made_from, b.distance = row.distance,
    b.first_at = datetime({epochMillis: row.first_at}), b.last_at = datetime({epochMillis: row.last_at}),
    b.described = null, b.described_by = null, b.described_as = null, b.embedded_as = null
WITH b, row
CALL (b, row) { CALL db.create.setNodeVectorProperty(b, 'embedding', row.vector) RETURN count(*) AS vectors }
CALL (b, row) {
  UNWIND row.own AS id
  MATCH (n:Note {scope: $scope, id: id})
  MERGE (n)-[:IN_BLOCK]->(b)
}
CALL (b, row) {
  UNWIND row.parts AS id
  MATCH (c:Block {scope: $scope, id: id})
  MERGE (c)-[:PART_OF]->(b)
}
