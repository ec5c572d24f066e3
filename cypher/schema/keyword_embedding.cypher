// Search the keywords of a scope by vector.
// $dimensions: integer    length of the embedder's vectors
CREATE VECTOR INDEX keyword_embedding IF NOT EXISTS
FOR (k:Keyword) ON k.embedding WITH [k.scope]
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine',
                       `vector.quantization.type`: 'NONE'}}
