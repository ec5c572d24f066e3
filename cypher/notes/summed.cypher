// Notes that are to be summed, or summaries that are to be made anew, with all that these need.
// $scope: string    the scope
// $ids: list<string>    the notes
// $dimensions: integer    length of the embedder's vectors
// returns note [with terms, keywords, sums], vector (of its raw text), parts [{note (its id), raw, tags, session, seq, agent, keywords, sources, said_at, valid_from [ms]}]: what a
//   summary stands for and is no summary itself, else the note; in the order of time
UNWIND $ids AS id
MATCH (n:Note {scope: $scope, id: id})
RETURN n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags, .constructed_by, .raw_terms, .context_terms,
          // use notes/times note=n
          .apart, keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
          sums: [(n)-[:SUMS]->(m) | m.id]} AS note,
       CASE WHEN n.raw_embedding IS NOT NULL THEN vector(n.raw_embedding, $dimensions, FLOAT32) END AS vector,
       COLLECT {
         MATCH (n)-[:SUMS*0..1]->(m:Note)
         WHERE NOT EXISTS { (m)-[:SUMS]->() }
         RETURN m {note: m.id, .raw, .tags, .session, .seq, agent: m.agent_id, said_at: m.said_at.epochMillis, valid_from: m.valid_from.epochMillis,
                   keywords: coalesce(m.keywords, COLLECT { MATCH (m)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }),
                   sources: COLLECT { MATCH (m)-[f:FROM]->(x:Source) RETURN x {
                     // use sources/passage source=x part=f.part place=coalesce(f.part,0)
                     } ORDER BY x.said_at, x.session, x.seq, x.id }}
         ORDER BY m.said_at, m.created_at, m.id
       } AS parts
