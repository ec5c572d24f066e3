// Search the blocks of a scope by the mean vector of their notes, those of not too many. Their state is not here: else the one
// transaction that makes a new tree the present one would write all vectors into the index again.
// $dimensions: integer    length of the embedder's vectors
CREATE VECTOR INDEX block_embedding IF NOT EXISTS
FOR (b:Block) ON b.embedding WITH [b.scope, b.notes]
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine',
                       `vector.quantization.type`: 'NONE'}}
