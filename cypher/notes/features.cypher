// Read what a search scores of versions of notes, by their stamps. Each is a note still, or past by now.
// $scopes: list<string>    the scopes read
// $stamps: list<integer>    theirs
// $dimensions: integer    length of the embedder's vectors
// returns notes [[stamp, scope, id, status, session, seq, role, speaker, raw lines, said_at, valid_from, tags, several, raw_terms, context_terms, raw vector,
//   context vector: null for a note that waits]]
UNWIND $stamps AS stamp
CALL (stamp) {
  MATCH (n:Note {stamp: stamp}) WHERE n.scope IN $scopes RETURN n
  UNION ALL
  MATCH (n:Past {stamp: stamp}) WHERE n.scope IN $scopes RETURN n
}
RETURN collect([stamp, n.scope, n.id, coalesce(n.was, n.status), n.session, n.seq, n.role, n.speaker, n.raw,
                n.said_at.epochMillis, n.valid_from.epochMillis, n.tags, n.several, n.raw_terms, n.context_terms,
                CASE WHEN n.raw_embedding IS NOT NULL THEN vector(n.raw_embedding, $dimensions, FLOAT32) END,
                CASE WHEN n.raw_embedding IS NOT NULL THEN vector(n.context_embedding, $dimensions, FLOAT32) END]) AS notes
