// Read versions of notes by their stamps, with their sources: what a search returns. Each is a note still, or past by now.
// And what took the place of each: a later statement of the same matter (change), or a correction.
// $scopes: list<string>    the scopes read
// $stamps: list<integer>    theirs
// $unread: list<integer>    those of which all is read; of others only what took their place
// returns stamp, note [with sources] or null, replaced [{note, status, said, created, former, ends}], times in ms
UNWIND $stamps AS stamp
CALL (stamp) {
  MATCH (n:Note {stamp: stamp}) WHERE n.scope IN $scopes RETURN n
  UNION ALL
  MATCH (n:Past {stamp: stamp}) WHERE n.scope IN $scopes RETURN n
}
RETURN stamp,
       CASE WHEN stamp IN $unread THEN n {.id, .raw, .context, .session, .seq, .speaker, .role, .agent_id, .tags, status: coalesce(n.was, n.status),
          said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
          valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          expires_at: n.expires_at.epochMillis, erase_at: n.erase_at.epochMillis, .policy, .policy_as, .pinned, .apart,
          sums: [(n)-[:SUMS]->(m) | m.id],
          sources: [(n)-[:SUMS*0..1]->()-[f:FROM]->(x) | x {
            // use sources/passage source=x part=f.part place=coalesce(f.part,0)
            }]} END AS note,
       COLLECT {
         MATCH (o:Note {scope: n.scope, id: n.id})<-[r:RELATED|SUPERSEDES]-(m:Note)
         WHERE coalesce(r.kind, 'change') = 'change' AND o.apart IS NULL AND m.apart IS NULL
         RETURN {note: m.id, status: m.status, said: m.said_at.epochMillis, created: m.created_at.epochMillis, former: coalesce(r.former, ''), ends: m.expires_at.epochMillis}
         ORDER BY m.said_at, m.created_at, m.id
       } AS replaced
