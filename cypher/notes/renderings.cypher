// What local contexts are made of: for each note its sources, each with the turn before it.
// $scope: string    the scope
// $ids: list<string>    the notes
// $statuses: list<string>    of notes that can be read
// returns note [with terms, keywords], turns [{source, previous [with readable] or null}]
UNWIND $ids AS id
MATCH (n:Note {scope: $scope, id: id})
RETURN n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags, .constructed_by,
          said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
          superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          .raw_terms, .context_terms,
          keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }} AS note,
       COLLECT {
         MATCH (n)-[:FROM]->(x:Source)
         RETURN {source: x {.*, said_at: x.said_at.epochMillis},
                 previous: head([(p:Source)-[:NEXT]->(x) | p {.*, said_at: p.said_at.epochMillis,
                   readable: EXISTS { (p)<-[:FROM]-(m:Note) WHERE m.status IN $statuses }}])}
         ORDER BY x.said_at, x.session, x.seq, x.id
       } AS turns
