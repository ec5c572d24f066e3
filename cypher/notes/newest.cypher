// The readable notes of a scope that were created last.
// $scope: string    the scope
// $statuses: list<string>    of notes that can be read
// $limit: integer    how many
// returns note [with terms, keywords, sources]
MATCH (n:Note {scope: $scope})
WHERE n.created_at > datetime('0001-01-01') AND n.id >= '' AND n.status IN $statuses
WITH n ORDER BY n.created_at DESC, n.id DESC LIMIT $limit
RETURN n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags,
          said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
          superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          .raw_terms, .context_terms, .constructed_by,
          keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
          sources: COLLECT { MATCH (n)-[:FROM]->(x:Source) RETURN x {.*, said_at: x.said_at.epochMillis} ORDER BY x.said_at, x.session, x.seq, x.id }} AS note
ORDER BY n.created_at DESC, n.id DESC
