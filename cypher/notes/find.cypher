// The note of an id, its own or that of a source it comes from, with all that a change of it needs.
// $scope: string    the scope
// $id: string    id of a note or a source
// returns by (note or source), note [with terms, keywords, sources]
CALL () {
  MATCH (n:Note {scope: $scope, id: $id})
  RETURN n, 'note' AS by
  UNION
  MATCH (x:Source {scope: $scope, id: $id})<-[:FROM]-(n:Note)
  RETURN n, 'source' AS by
}
RETURN by,
       n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags,
          said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
          superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          .raw_terms, .context_terms, .constructed_by,
          keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
          sources: COLLECT { MATCH (n)-[:FROM]->(x:Source) RETURN x {.*, said_at: x.said_at.epochMillis} ORDER BY x.said_at, x.session, x.seq, x.id }} AS note
