// What is wrong with the present tree of blocks, and with blocks that are in no tree.
// $scope: string    the scope
// returns fault
MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.state = 'live'
CALL (b) {
  WITH b WHERE b.level = 0 AND COUNT { (b)<-[:IN_BLOCK]-() } <> b.notes
  RETURN 'holds ' + toString(COUNT { (b)<-[:IN_BLOCK]-() }) + ' notes and counts ' + toString(b.notes) AS fault
  UNION ALL
  WITH b WHERE b.level > 0 AND reduce(sum = 0, one IN [(b)<-[:PART_OF]-(c:Block) | c.notes] | sum + one) <> b.notes
  RETURN 'counts ' + toString(b.notes) + ' notes, and its parts others' AS fault
  UNION ALL
  WITH b WHERE EXISTS { (b)<-[:PART_OF]-(c:Block) WHERE c.entered <= b.entered OR c.left > b.left }
  RETURN 'does not enclose its parts' AS fault
  UNION ALL
  WITH b WHERE EXISTS { (b)<-[:PART_OF]-(c:Block) WHERE c.distance > b.distance + 0.0 }
  RETURN 'is nearer in itself than a part of it' AS fault
  UNION ALL
  WITH b WHERE b.embedding IS NULL
  RETURN 'has no vector' AS fault
  UNION ALL
  WITH b WHERE b.level = 0 AND EXISTS { (b)<-[:IN_BLOCK]-(n:Note) WHERE n.apart IS NOT NULL }
  RETURN 'holds a note that is kept apart' AS fault
}
RETURN 'Block ' + b.id + ' ' + fault + '.' AS fault
UNION ALL
MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.state IN ['live', 'stale']
WITH count(b) AS blocks, sum(CASE WHEN EXISTS { (b)-[:PART_OF]->(p:Block) WHERE p.state IN ['live', 'stale'] } THEN 0
                             ELSE 1 + b.left - b.entered END) AS held
WHERE blocks <> held
RETURN 'The roots of the tree of blocks hold ' + toString(held) + ' blocks, and there are ' + toString(blocks) + '.' AS fault
UNION ALL
MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.level = 0 AND b.made_from <> ''
  AND COUNT { (b)<-[:IN_BLOCK]-(n:Note) WHERE n.status = 'active' } < b.notes
RETURN 'Block ' + b.id + ' counts as made of notes as they are, and one can be read no more.' AS fault
UNION ALL
MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.made_from = '' AND b.described IS NOT NULL
RETURN 'Block ' + b.id + ' keeps what a model wrote of notes that have changed.' AS fault
UNION ALL
MATCH (n:Note {scope: $scope}) WHERE n.id >= '' AND COUNT { (n)-[:IN_BLOCK]->(b:Block) WHERE b.state IN ['live', 'stale'] } > 1
RETURN 'Note ' + n.id + ' is in several blocks.' AS fault
