// A page of a scope's readable notes that are meant, oldest first, with keywords and sources.
// $scope: string    the scope
// $statuses: list<string>    of notes that may be read
// $filters: map    which of them; of one that several sources tell, whoever asks looks at each source
//   since, until: datetime    earliest and latest said_at
//   session, speaker, role, agent: list<string>    the same value twice for one, two different ones for any
//   tags: list<string>    that a note has all of
// $after: datetime    created_at of the last note seen
// $after_id: string    its id
// $limit: integer    notes on a page
// $alive: datetime    the present: what ends by then can't be read
// returns note
MATCH (n:Note {scope: $scope})
WHERE n.created_at >= $after AND n.id >= ''
  AND (n.created_at > $after OR n.id > $after_id) AND n.status IN $statuses AND n.expires_at > $alive
  // use notes/filters
WITH n ORDER BY n.created_at, n.id LIMIT $limit
RETURN n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags,
          // use notes/times note=n
          .apart, keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
          sums: [(n)-[:SUMS]->(m) | m.id],
          // use notes/sources note=n labels=Source
          } AS note
ORDER BY n.created_at, n.id
