// Search notes and their past versions by the vector of their raw text, filtered inside the index.
// Every property that any later filter needs is here: adding one is a rebuild.
// $dimensions: integer    length of the embedder's vectors
CREATE VECTOR INDEX note_raw IF NOT EXISTS
FOR (n:Note|Past) ON n.raw_embedding
WITH [n.scope, n.status, n.said_at, n.session, n.speaker, n.role, n.agent_id,
      n.valid_from, n.valid_to, n.expires_at, n.recorded_at, n.superseded_at, n.several]
OPTIONS {indexConfig: {`vector.dimensions`: $dimensions, `vector.similarity_function`: 'cosine',
                       `vector.quantization.type`: 'NONE'}}
