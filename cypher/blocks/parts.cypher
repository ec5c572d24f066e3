// The two blocks that each of some blocks of the present tree is made of.
// $scope: string    the scope
// $ids: list<string>    these blocks
// returns block
UNWIND $ids AS id
MATCH (:Block {scope: $scope, id: id})<-[:PART_OF]-(b:Block) WHERE b.state IN ['live', 'stale']
RETURN b {.scope, .id, .level, .leaves, .notes, .entered, .left, .distance, stale: b.state = 'stale',
          first_at: b.first_at.epochMillis, last_at: b.last_at.epochMillis, parent: id} AS block
ORDER BY b.entered
