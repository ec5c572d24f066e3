// What a decision left and found: each note that it is about, as it is now and as it was just before. A note that it changed
// several times comes several times, in the order of the changes.
// $scope: string    the scope
// $decision: string    the decision
// returns id, role, revision, now [note with terms, keywords, sources] or null, before [likewise, with vectors] or null,
//   later [[id, kind]]
MATCH (d:Decision {scope: $scope, id: $decision})-[about:ABOUT]->(n:Note|Past)
WITH n, about
RETURN n.id AS id, about.role AS role, about.revision AS revision,
       CASE WHEN n:Note THEN
         n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags, .revision, .constructed_by,
            // use notes/times note=n
            .apart, .raw_terms, .context_terms,
            keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
            sums: [(n)-[:SUMS]->(m) | m.id],
            // use notes/sources note=n labels=Source|PastSource
            }
       END AS now,
       head(COLLECT {
         CALL (n) { MATCH (n)-[:WAS]->(p:Past) RETURN p UNION WITH n AS p WHERE p:Past RETURN p }
         WITH p WHERE p.revision = about.revision - 1
         RETURN p {.id, .raw, .context, status: p.was, .session, .seq, .speaker, .role, .agent_id, .tags, .revision, .constructed_by,
            // use notes/times note=p
            apart: CASE WHEN p.parted IS NULL THEN p.apart END,
            .raw_terms, .context_terms, .keywords, raw_vector: p.raw_embedding, context_vector: p.context_embedding,
            sums: [(p)-[:SUMS]->(m) | m.id],
            // use notes/sources note=p labels=Source|PastSource
            }
       }) AS before,
       COLLECT {
         MATCH (l:Decision)-[a:ABOUT]->(n)
         WHERE a.revision > about.revision AND a.role IN ['changed', 'superseded', 'retired']
           AND l.id <> $decision AND l.undone_by IS NULL AND l.kind <> 'undo'
         RETURN [l.id, l.kind] ORDER BY a.revision
       } AS later
ORDER BY id, revision
