// Notes that have expired and that no sweep has taken out yet, the first to end first, but those that an erasure has begun with. Their statuses are told as they are stored.
// $scope: string    the scope
// $statuses: list<string>    of notes that are not archived
// $alive: datetime    the present: what ends by then has expired
// $limit: integer    how many
// returns note [with terms, keywords, sources]
UNWIND $statuses AS status
MATCH (n:Note {scope: $scope, status: status}) WHERE n.expires_at <= $alive AND n.erase_at > datetime('0001-01-01T00:00:00Z')
WITH n ORDER BY n.expires_at, n.id LIMIT $limit
RETURN n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags, .constructed_by, .raw_terms, .context_terms,
          // use notes/times note=n
          .apart, keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
          sums: [(n)-[:SUMS]->(m) | m.id],
          // use notes/sources note=n labels=Source|PastSource
          } AS note
ORDER BY n.expires_at, n.id
