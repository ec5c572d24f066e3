// What a decision left and found: each note that it is about, as it is now and as it was just before. A note that it changed
// several times comes several times, in the order of the changes.
// $scope: string    the scope
// $decision: string    the decision
// returns id, role, revision, now [note with terms, keywords, sources] or null, before [likewise, with vectors] or null,
//   later [{id, kind}]
MATCH (d:Decision {scope: $scope, id: $decision})-[about:ABOUT]->(n:Note|Past)
WITH n, about
RETURN n.id AS id, about.role AS role, about.revision AS revision,
       CASE WHEN n:Note THEN
         n {.id, .raw, .context, .status, .session, .seq, .speaker, .role, .agent_id, .tags, .revision, .constructed_by,
            said_at: n.said_at.epochMillis, created_at: n.created_at.epochMillis, recorded_at: n.recorded_at.epochMillis,
            superseded_at: n.superseded_at.epochMillis, valid_from: n.valid_from.epochMillis, valid_to: n.valid_to.epochMillis,
          expires_at: n.expires_at.epochMillis, erase_at: n.erase_at.epochMillis, .policy, .policy_as, .pinned, .apart,
            .raw_terms, .context_terms,
            keywords: COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name },
            sums: [(n)-[:SUMS]->(m) | m.id],
            sources: COLLECT { MATCH (n)-[:SUMS*0..1]->()-[f:FROM]->(x:Source|PastSource) RETURN x {.*, part: f.part, text: CASE WHEN x.cuts IS NULL THEN x.text ELSE substring(x.text, ([0] + x.cuts)[coalesce(f.part, 0)], ([0] + x.cuts + [1000000])[coalesce(f.part, 0) + 1] - ([0] + x.cuts)[coalesce(f.part, 0)]) END, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} ORDER BY x.said_at, x.session, x.seq, x.id }}
       END AS now,
       head(COLLECT {
         CALL (n) { MATCH (n)-[:WAS]->(p:Past) RETURN p UNION WITH n AS p WHERE p:Past RETURN p }
         WITH p WHERE p.revision = about.revision - 1
         RETURN p {.id, .raw, .context, status: p.was, .session, .seq, .speaker, .role, .agent_id, .tags, .revision, .constructed_by,
            said_at: p.said_at.epochMillis, created_at: p.created_at.epochMillis, recorded_at: p.recorded_at.epochMillis,
            superseded_at: p.superseded_at.epochMillis, valid_from: p.valid_from.epochMillis, valid_to: p.valid_to.epochMillis,
          expires_at: p.expires_at.epochMillis, erase_at: p.erase_at.epochMillis, .policy, .policy_as, .pinned,
            apart: CASE WHEN p.parted IS NULL THEN p.apart END,
            .raw_terms, .context_terms, .keywords, .raw_embedding, .context_embedding,
            sums: [(p)-[:SUMS]->(m) | m.id],
            sources: COLLECT { MATCH (p)-[:SUMS*0..1]->()-[f:FROM]->(x:Source|PastSource) RETURN x {.*, part: f.part, text: CASE WHEN x.cuts IS NULL THEN x.text ELSE substring(x.text, ([0] + x.cuts)[coalesce(f.part, 0)], ([0] + x.cuts + [1000000])[coalesce(f.part, 0) + 1] - ([0] + x.cuts)[coalesce(f.part, 0)]) END, said_at: x.said_at.epochMillis, expires_at: x.expires_at.epochMillis, erase_at: x.erase_at.epochMillis} ORDER BY x.said_at, x.session, x.seq, x.id }}
       }) AS before,
       COLLECT {
         MATCH (l:Decision)-[a:ABOUT]->(n)
         WHERE a.revision > about.revision AND a.role IN ['changed', 'superseded', 'retired']
           AND l.id <> $decision AND l.undone_by IS NULL AND l.kind <> 'undo'
         RETURN l {.id, .kind, revision: a.revision} ORDER BY a.revision
       } AS later
ORDER BY id, revision
