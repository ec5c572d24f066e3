// Decisions of a scope, the last one first, with the words that each was about: of a note as the decision left it.
// $scope: string    the scope
// $before: datetime    only those at or before this time
// $limit: integer    how many
// $words: integer    of how many notes and sources the words are told
// $alive: datetime    the present: what is to be erased by then is told no more
// returns decision, about [{role: said, created, superseded, changed, retired, untied or tied, note: '' for a source, lines}]
MATCH (d:Decision {scope: $scope}) WHERE d.version >= 0 AND d.place >= 0 AND d.at <= $before
WITH d ORDER BY d.version DESC, d.place DESC LIMIT $limit
RETURN d {.*, at: d.at.epochMillis} AS decision,
       COLLECT {
         CALL (d) {
           WITH d WHERE d.kind IN ['merge', 'reinforce', 'discard', 'profile']
           UNWIND d.sources AS id
           CALL (id) { MATCH (x:Source|PastSource {scope: $scope, id: id}) WHERE x.erase_at > $alive RETURN x LIMIT 1 }
           RETURN {role: 'said', note: '', lines: [x.text]} AS told
           UNION ALL
           MATCH (d)-[a:ABOUT]->(n:Note|Past)
           WHERE a.role IN ['created', 'superseded', 'untied', 'tied']
             OR (d.kind IN ['update', 'delete', 'undo', 'untie', 'expire', 'restore', 'pin', 'policy', 'evolve'] AND a.role IN ['changed', 'retired'])
           CALL (n, a) {
             WITH n AS v, a WHERE a.role = 'retired' OR v.revision = coalesce(a.revision, a.found) RETURN v
             UNION ALL
             MATCH (n)-[:WAS]->(v:Past) WHERE a.role <> 'retired' AND v.revision = coalesce(a.revision, a.found) RETURN v
           }
           WITH a, v WHERE v.erase_at > $alive
           WITH a, v ORDER BY CASE a.role WHEN 'created' THEN 0 ELSE 1 END, v.created_at, v.id
           RETURN {role: a.role, note: v.id, lines: v.raw} AS told
         }
         RETURN told LIMIT $words
       } AS about
ORDER BY d.version DESC, d.place DESC
