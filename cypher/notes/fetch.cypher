// Read versions of notes by their stamps, with their sources: what a search returns. Each is a note still, or past by now.
// $scopes: list<string>    the scopes read
// $versions: map    {stamps: list<integer>}; in a map, since the server compiles a statement anew for other lengths of lists
// returns stamp, note [with sources]
UNWIND $versions.stamps AS stamp
CALL (stamp) {
  MATCH (n:Note {stamp: stamp}) WHERE n.scope IN $scopes RETURN n
  UNION ALL
  MATCH (n:Past {stamp: stamp}) WHERE n.scope IN $scopes RETURN n
}
RETURN stamp,
       n {.id, .raw, .context, .session, .seq, .speaker, .role, .agent_id, .tags, status: coalesce(n.was, n.status),
          said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
          valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          sources: [(n)-[:FROM]->(x) | x {.*, said_at: x.said_at.epochMillis}]} AS note
