// Let no block keep a vector, or words, that may be made of what was erased: none that is in no tree, none that has lost notes, nor what holds it.
// $scope: string    the scope
// returns blocks: how many
CALL () {
  MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.made_from <> ''
    AND (b.state IN ['new', 'gone'] OR (b.level = 0 AND COUNT { (b)<-[:IN_BLOCK]-() } < b.notes))
  RETURN b
}
MATCH (b)-[:PART_OF*0..]->(a:Block)
WITH DISTINCT a
// use blocks/stale block=a
RETURN count(a) AS blocks
