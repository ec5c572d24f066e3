// Search the topics of a scope by the vector of their centroid.
// $dimensions: integer    length of the embedder's vectors
CREATE VECTOR INDEX topic_embedding IF NOT EXISTS
FOR (t:Topic) ON t.embedding WITH [t.scope]
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine',
                       `vector.quantization.type`: 'NONE'}}
