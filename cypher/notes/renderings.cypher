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
          // use notes/times note=n
          .apart, expired: n.expires_at <= $alive, .raw_terms, .context_terms, sums: [(n)-[:SUMS]->(m) | m.id],
          keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name }} AS note,
       COLLECT {
         MATCH (n)-[:SUMS*0..1]->()-[f:FROM]->(x:Source)
         WITH x, coalesce(f.part, 0) AS part
         WITH x, part, CASE WHEN part > 0 THEN x ELSE head([(p:Source)-[:NEXT]->(x) | p]) END AS p
         WITH x, part, p, CASE WHEN part > 0 THEN part - 1 ELSE coalesce(size(p.cuts), 0) END AS before
         RETURN {source: x {
                  // use sources/passage source=x part=part place=part
                  },
                 previous: CASE WHEN p IS NOT NULL THEN p {readable: EXISTS { (p)<-[g:FROM]-()<-[:SUMS*0..1]-(m:Note) WHERE coalesce(g.part, 0) = before AND m.status IN $statuses AND m.expires_at > $alive },
                  // use sources/passage source=p part=before place=before
                  } END}
         ORDER BY x.said_at, x.session, x.seq, x.id, part
       } AS turns
