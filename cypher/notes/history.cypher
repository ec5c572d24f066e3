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
          said_at: v.said_at.epochMillis, created_at: v.created_at.epochMillis, recorded_at: v.recorded_at.epochMillis,
          superseded_at: v.superseded_at.epochMillis, valid_from: v.valid_from.epochMillis, valid_to: v.valid_to.epochMillis,
          expires_at: v.expires_at.epochMillis, erase_at: v.erase_at.epochMillis, .policy, .policy_as, .pinned, .apart,
          status: coalesce(v.was, v.status), expired: v:Note AND v.expires_at <= $alive,
          keywords: CASE WHEN v:Past THEN v.keywords ELSE COLLECT { MATCH (v)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name } END,
          sums: [(v)-[:SUMS]->(m) | m.id],
          sources: COLLECT { MATCH (v)-[:SUMS*0..1]->()-[f:FROM]->(x:Source|PastSource) RETURN x {.*, part: f.part, text: CASE WHEN x.cuts IS NULL THEN x.text ELSE substring(x.text, ([0] + x.cuts)[coalesce(f.part, 0)], ([0] + x.cuts + [1000000])[coalesce(f.part, 0) + 1] - ([0] + x.cuts)[coalesce(f.part, 0)]) END, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} ORDER BY x.said_at, x.session, x.seq, x.id }} AS note,
       head(COLLECT {
         MATCH (d:Decision)-[:ABOUT {revision: v.revision}]->(v) RETURN d {.*, at: d.at.epochMillis}
         UNION ALL
         MATCH (d:Decision)-[:ABOUT {revision: v.revision}]->(:Note|Past)-[:WAS]->(v) RETURN d {.*, at: d.at.epochMillis}
       }) AS decision
ORDER BY v.created_at, v.revision, v.recorded_at
