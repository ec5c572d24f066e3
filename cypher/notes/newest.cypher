// The readable notes of a scope that are meant and were created last, before another one.
// $scope: string    the scope
// $statuses: list<string>    of notes that can be read
// $filters: map    which of them; of one that several sources tell, whoever asks looks at each source
//   since, until: datetime    earliest and latest said_at
//   session, speaker, role, agent: list<string>    the same value twice for one, two different ones for any
//   tags: list<string>    that a note has all of
// $before: datetime    created_at of the last note seen
// $before_id: string    its id
// $limit: integer    how many
// $alive: datetime    the present: what ends by then can't be read
// returns note [with terms, keywords, sources]
MATCH (n:Note {scope: $scope})
WHERE n.created_at <= $before AND n.id >= ''
  AND (n.created_at < $before OR n.id < $before_id) AND n.status IN $statuses AND n.expires_at > $alive
  // use notes/filters
WITH n ORDER BY n.created_at DESC, n.id DESC LIMIT $limit
RETURN n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags,
          // use notes/times note=n
          .apart, .raw_terms, .context_terms, .constructed_by,
          keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
          sums: [(n)-[:SUMS]->(m) | m.id],
          // use notes/sources note=n labels=Source
          } AS note
ORDER BY n.created_at DESC, n.id DESC
