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
  AND (n.several OR n.said_at >= $filters.since AND n.said_at <= $filters.until
  AND (n.session = $filters.session[0] OR $filters.session[0] <> $filters.session[1])
  AND (n.speaker = $filters.speaker[0] OR $filters.speaker[0] <> $filters.speaker[1])
  AND (n.role = $filters.role[0] OR $filters.role[0] <> $filters.role[1])
  AND (n.agent_id = $filters.agent[0] OR $filters.agent[0] <> $filters.agent[1])
  AND all(tag IN $filters.tags WHERE tag IN n.tags))
WITH n ORDER BY n.created_at DESC, n.id DESC LIMIT $limit
RETURN n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags,
          said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
          superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          expires_at: n.expires_at.epochMillis, erase_at: n.erase_at.epochMillis, .policy, .policy_as, .pinned, .apart,
          .raw_terms, .context_terms, .constructed_by,
          keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
          sums: [(n)-[:SUMS]->(m) | m.id],
          sources: COLLECT { MATCH (n)-[:SUMS*0..1]->()-[f:FROM]->(x:Source) RETURN x {.*, part: f.part, text: CASE WHEN x.cuts IS NULL THEN x.text ELSE substring(x.text, ([0] + x.cuts)[coalesce(f.part, 0)], ([0] + x.cuts + [1000000])[coalesce(f.part, 0) + 1] - ([0] + x.cuts)[coalesce(f.part, 0)]) END, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} ORDER BY x.said_at, x.session, x.seq, x.id }} AS note
ORDER BY n.created_at DESC, n.id DESC
