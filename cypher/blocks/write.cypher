// Store blocks, each behind what it holds; nobody finds them yet. One that is there already, and whose notes have changed, gets
// what follows from them anew, and loses what a model wrote of them; in the present tree it keeps its place, and stays stale. All happens under the scope's lock: nothing, and there is no row,
// if the scope is gone, or another run or an erasure of everything came since. A block of a note that was changed or erased since it
// was read, or is being erased, keeps its place alone, and so does what holds it: no vector, which would be made of that.
// $scope: string    the scope
// $before: string    id of the last run as the notes were read, '' for none
// $rows: list<map>    {id, made_from, level, leaves, notes, first_at, last_at [ms], vector, own: a leaf's notes [{id, stamp: as it was read}],
//   parts: ids of the two blocks of another}
// returns scope
MATCH (s:Scope {scope: $scope})
SET s.lock = true
WITH s WHERE coalesce(s.blocks_run, '') = $before
SET s.blocks_run = $before // from now on writers look for blocks of what they change
WITH s.scope AS scope
CALL () {
  UNWIND $rows AS row
  MERGE (b:Block {scope: $scope, id: row.id})
  ON CREATE SET b.level = row.level, b.leaves = row.leaves, b.notes = row.notes, b.entered = -1, b.left = -1
  SET b.state = CASE WHEN b.state IN ['live', 'stale'] THEN 'stale' ELSE 'new' END, b.made_from = row.made_from,
      b.first_at = datetime({epochMillis: row.first_at}), b.last_at = datetime({epochMillis: row.last_at}),
      b.described = null, b.described_by = null, b.described_as = null, b.embedded_as = null, b.source = null
  // use writes/outdate node=b
  WITH b, row
  CALL (b) { MATCH (b)<-[r:SUPPORTS]-() DELETE r }
  CALL (b, row) { CALL db.create.setNodeVectorProperty(b, 'embedding', row.vector) RETURN count(*) AS vectors }
  CALL (b, row) {
    UNWIND row.own AS one
    MATCH (n:Note {scope: $scope, id: one.id})
    MERGE (n)-[:IN_BLOCK]->(b)
  }
  CALL (b, row) {
    UNWIND row.parts AS id
    MATCH (c:Block {scope: $scope, id: id})
    MERGE (c)-[:PART_OF]->(b)
  }
}
CALL () {
  UNWIND $rows AS row
  MATCH (b:Block {scope: $scope, id: row.id})
  WHERE size(row.parts) > COUNT { (b)<-[:PART_OF]-(c:Block) WHERE c.made_from <> '' } OR size(row.own) > COUNT {
    UNWIND row.own AS one
    MATCH (n:Note {scope: $scope, id: one.id}) WHERE n.stamp = one.stamp AND n.erase_at > datetime('0001-01-01T00:00:00Z')
  }
  MATCH (b)-[:PART_OF*0..]->(a:Block)
  WITH DISTINCT a
  // use blocks/stale block=a
}
RETURN scope
