// What local contexts are made of: for each note its sources, each with the turn before it: of a later passage of a long
// message the passage before, of any other source the last passage of the turn before.
// $scope: string    the scope
// $ids: list<string>    the notes
// $statuses: list<string>    of notes that can be read
// $alive: datetime    the present: what ends by then can't be read
// returns note [with terms, keywords], turns [{source, previous [with readable] or null}]
UNWIND $ids AS id
MATCH (n:Note {scope: $scope, id: id})
RETURN n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags, .constructed_by,
          said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
          superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          expires_at: n.expires_at.epochMillis, erase_at: n.erase_at.epochMillis, .policy, .policy_as, .pinned, .apart,
          expired: n.expires_at <= $alive, .raw_terms, .context_terms, sums: [(n)-[:SUMS]->(m) | m.id],
          keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }} AS note,
       COLLECT {
         MATCH (n)-[:SUMS*0..1]->()-[f:FROM]->(x:Source)
         WITH x, coalesce(f.part, 0) AS part
         WITH x, part, CASE WHEN part > 0 THEN x ELSE head([(p:Source)-[:NEXT]->(x) | p]) END AS p
         WITH x, part, p, CASE WHEN part > 0 THEN part - 1 ELSE coalesce(size(p.cuts), 0) END AS before
         RETURN {source: x {.*, part: part, text: CASE WHEN x.cuts IS NULL THEN x.text ELSE substring(x.text, ([0] + x.cuts)[part], ([0] + x.cuts + [1000000])[part + 1] - ([0] + x.cuts)[part]) END, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis},
                 previous: CASE WHEN p IS NOT NULL THEN p {.*, part: before, text: CASE WHEN p.cuts IS NULL THEN p.text ELSE substring(p.text, ([0] + p.cuts)[before], ([0] + p.cuts + [1000000])[before + 1] - ([0] + p.cuts)[before]) END, said_at: p.said_at.epochMillis, expires_at: p.expires_at.epochMillis, erase_at: p.erase_at.epochMillis,
                   readable: EXISTS { (p)<-[g:FROM]-()<-[:SUMS*0..1]-(m:Note) WHERE coalesce(g.part, 0) = before AND m.status IN $statuses AND m.expires_at > $alive }} END}
         ORDER BY x.said_at, x.session, x.seq, x.id, part
       } AS turns
