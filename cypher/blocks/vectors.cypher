// The vectors of blocks.
// $scope: string    the scope
// $ids: list<string>    the blocks
// $dimensions: integer    length of the vectors
// returns id, vector
UNWIND $ids AS id
MATCH (b:Block {scope: $scope, id: id}) WHERE b.embedding IS NOT NULL
RETURN id, vector(b.embedding, $dimensions, FLOAT32) AS vector
