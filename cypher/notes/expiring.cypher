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
          said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
          superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          expires_at: n.expires_at.epochMillis, erase_at: n.erase_at.epochMillis, .policy, .policy_as, .pinned, .apart,
          keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
          sums: [(n)-[:SUMS]->(m) | m.id],
          sources: COLLECT { MATCH (n)-[:SUMS*0..1]->()-[f:FROM]->(x:Source|PastSource) RETURN x {.*, part: f.part, text: CASE WHEN x.cuts IS NULL THEN x.text ELSE substring(x.text, ([0] + x.cuts)[coalesce(f.part, 0)], ([0] + x.cuts + [1000000])[coalesce(f.part, 0) + 1] - ([0] + x.cuts)[coalesce(f.part, 0)]) END, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} ORDER BY x.said_at, x.session, x.seq, x.id }} AS note
ORDER BY n.expires_at, n.id
