// Blocks of the present tree by their ids.
// $scope: string    the scope
// $ids: list<string>    theirs
// returns block
UNWIND $ids AS id
MATCH (b:Block {scope: $scope, id: id}) WHERE b.state IN ['live', 'stale']
RETURN b {.scope, .id, .level, .leaves, .notes, .entered, .left, .distance, stale: b.state = 'stale',
          first_at: b.first_at.epochMillis, last_at: b.last_at.epochMillis,
          parent: head(COLLECT { MATCH (b)-[:PART_OF]->(p:Block) WHERE p.state IN ['live', 'stale'] RETURN p.id })} AS block
ORDER BY b.entered
