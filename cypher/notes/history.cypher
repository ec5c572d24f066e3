// All versions of a note, oldest first, each with the decision that made it.
// $scope: string    the scope
// $id: string    id of the note
// returns note, was, decision [{id, kind, at}] or null
MATCH (n:Note {scope: $scope, id: $id})
CALL (n) {
  RETURN n AS v
  UNION
  MATCH (n)-[:WAS]->(p:Past) RETURN p AS v
}
RETURN v {.id, .raw, .context, .session, .seq, .speaker, .role, .agent_id, .tags,
          said_at: v.said_at.epochMillis, created_at: v.created_at.epochMillis, recorded_at: v.recorded_at.epochMillis,
          superseded_at: v.superseded_at.epochMillis, valid_from: v.valid_from.epochMillis, valid_to: v.valid_to.epochMillis,
          status: coalesce(v.was, v.status)} AS note,
       head(COLLECT { MATCH (d:Decision)-[:ABOUT {revision: v.revision}]->(n) RETURN d {.id, .kind, at: d.at.epochMillis} }) AS decision
ORDER BY v.revision
