// Notes that are to be erased and still there.
// $scope: string    the scope
// $limit: integer    how many
// returns note [with terms, keywords]
MATCH (n:Note {scope: $scope, erase_at: datetime('0001-01-01T00:00:00Z')}) WHERE n.kept_expires IS NULL
WITH n LIMIT $limit
RETURN n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags, .constructed_by, .raw_terms, .context_terms,
          // use notes/times note=n
          .apart, keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }} AS note
