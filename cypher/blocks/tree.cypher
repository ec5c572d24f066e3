// The blocks of the present tree, or trees, in their order; or the roots, those of most notes first, and of all others those whose parts
// are farthest from each other.
// $scope: string    the scope
// $limit: integer    how many at most
// returns block
MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.state IN ['live', 'stale']
WITH b, EXISTS { (b)-[:PART_OF]->(p:Block) WHERE p.state IN ['live', 'stale'] } AS inside
WITH b ORDER BY inside, CASE WHEN inside THEN 0 ELSE b.notes END DESC, b.distance DESC, b.level DESC, b.entered LIMIT $limit
RETURN b {.scope, .id, .level, .leaves, .notes, .entered, .left, .distance, stale: b.state = 'stale',
          first_at: b.first_at.epochMillis, last_at: b.last_at.epochMillis,
          parent: head(COLLECT { MATCH (b)-[:PART_OF]->(p:Block) WHERE p.state IN ['live', 'stale'] RETURN p.id })} AS block
ORDER BY b.entered
