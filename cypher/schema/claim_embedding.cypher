// Search the claims of a scope by the vector of their text.
// $dimensions: integer    length of the embedder's vectors
CREATE VECTOR INDEX claim_embedding IF NOT EXISTS
FOR (c:Claim) ON c.embedding WITH [c.scope]
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine',
                       `vector.quantization.type`: 'NONE'}}
