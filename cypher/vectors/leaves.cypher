// The vectors of the notes that leaves of a tree hold.
// $scope: string    the scope
// $blocks: list<string>    the blocks
// $dimensions: integer    length of the vectors
// returns block, vector (of a note's context)
UNWIND $blocks AS block
MATCH (:Block {scope: $scope, id: block})<-[:IN_BLOCK]-(n:Note) WHERE n.context_embedding IS NOT NULL
RETURN block, vector(n.context_embedding, $dimensions, FLOAT32) AS vector
