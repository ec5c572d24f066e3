// Store what a chat model wrote of blocks, under the scope's lock: not of one of which a note has changed since it was read, nor of one
// that was made of a unit of which one has.
// $scope: string    the scope
// $described_as: string    the schema by which it was written
// $rows: list<map>    {id, made_from, described: the fields, JSON, described_by: the model, source: the unit that it was made of, null for
//   none, shown: the notes of that, [{id, stamp: as it was read}]}
// returns id: of what was stored
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s
UNWIND $rows AS row
MATCH (b:Block {scope: $scope, id: row.id}) WHERE b.made_from = row.made_from AND size(row.shown) = COUNT {
  UNWIND row.shown AS one
  MATCH (n:Note {scope: $scope, id: one.id}) WHERE n.stamp = one.stamp AND n.erase_at > datetime('0001-01-01T00:00:00Z')
}
SET b.described = row.described, b.described_by = row.described_by, b.described_as = $described_as, b.source = row.source
WITH b, row
CALL (b, row) {
  UNWIND row.shown AS one
  MATCH (n:Note {scope: $scope, id: one.id})
  MERGE (n)-[:SUPPORTS]->(b)
}
RETURN b.id AS id
