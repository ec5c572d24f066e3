// All versions of a note, oldest first, each with the decision that made it; those of earlier lives too.
// $scope: string    the scope
// $id: string    id of the note
// $alive: datetime    the present: what ends by then has expired, and what is to be erased by then is gone
// returns note, was, decision or null
CALL () {
  MATCH (v:Note {scope: $scope, id: $id}) WHERE v.erase_at > $alive RETURN v
  UNION
  MATCH (v:Past {scope: $scope, id: $id}) WHERE v.erase_at > $alive RETURN v
}
RETURN v {.id, .raw, .context, .session, .seq, .speaker, .role, .agent_id, .tags,
          // use notes/times note=v
          .apart, status: coalesce(v.was, v.status), expired: v:Note AND v.expires_at <= $alive,
          keywords: CASE WHEN v:Past THEN v.keywords ELSE COLLECT { MATCH (v)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name } END,
          sums: [(v)-[:SUMS]->(m) | m.id],
          // use notes/sources note=v labels=Source|PastSource
          } AS note,
       head(COLLECT {
         MATCH (d:Decision)-[:ABOUT {revision: v.revision}]->(v) RETURN d {.*, at: d.at.epochMillis}
         UNION ALL
         MATCH (d:Decision)-[:ABOUT {revision: v.revision}]->(:Note|Past)-[:WAS]->(v) RETURN d {.*, at: d.at.epochMillis}
       }) AS decision
ORDER BY v.created_at, v.revision, v.recorded_at
