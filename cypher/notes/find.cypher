// The notes of these ids: a note's own, or that of a source it comes from; with all that a change of them needs.
// $scope: string    the scope
// $ids: list<string>    ids of notes or sources
// returns asked, by (note or source), note [with terms, keywords, sources, expired versions], followers
UNWIND $ids AS asked
CALL (asked) {
  MATCH (n:Note {scope: $scope, id: asked})
  RETURN n, 'note' AS by
  UNION
  MATCH (x:Source {scope: $scope, id: asked})<-[:FROM]-(n:Note)
  RETURN n, 'source' AS by
}
RETURN asked, by,
       n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags,
          said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
          superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          .raw_terms, .context_terms,
          keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
          sources: COLLECT { MATCH (n)-[:FROM]->(x:Source) RETURN x {.*, said_at: x.said_at.epochMillis} ORDER BY x.said_at, x.seq }} AS note
