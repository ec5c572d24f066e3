// The blocks of the present tree in its order, or those of them whose parts are farthest from each other.
// $scope: string    the scope
// $limit: integer    how many at most
// returns block
MATCH (b:Block {scope: $scope}) WHERE b.id >= '' AND b.state IN ['live', 'stale']
WITH b ORDER BY b.distance DESC, b.level DESC, b.entered LIMIT $limit
RETURN b {.scope, .id, .level, .leaves, .notes, .entered, .left, .distance, stale: b.state = 'stale',
          first_at: b.first_at.epochMillis, last_at: b.last_at.epochMillis,
          parent: head(COLLECT { MATCH (b)-[:PART_OF]->(p:Block) WHERE p.state IN ['live', 'stale'] RETURN p.id })} AS block
ORDER BY b.entered
