// The notes that a cap may evict, with what says how cold they are: those of no class that stays, not pinned, no items, and neither held
// nor written within the last while.
// $scope: string    the scope
// $before: datetime    until when a note must have become what it is
// $staying: list<string>    classes of which none is evicted
// $sources: list<string>    that are held
// $sessions: list<string>    likewise
// $alive: datetime    the present: what ends by then can't be read
// returns, in the order in which they were said, id, session, created_at [ms], terms: those of its own words, role, policy, message: whether a message tells it, restated: by how many of its sources beside the first, sums: for how many notes it stands, 0 for no summary, alike: what it must have in common with others that one summary stands for as well
MATCH (n:Note {scope: $scope, status: 'active'})
WHERE n.expires_at > $alive AND n.recorded_at <= $before AND NOT n.pinned AND NOT n.policy IN $staying
  AND NOT EXISTS { (n)-[:FROM]->(x:Source) WHERE x.kind = 'item' }
  AND (size($sources) + size($sessions) = 0
       OR NOT EXISTS { (n)-[:SUMS*0..1]->()-[:FROM]->(x:Source) WHERE x.id IN $sources OR x.session IN $sessions })
RETURN n.id AS id, n.session AS session, n.created_at.epochMillis AS created_at, n.raw_terms AS terms, n.role AS role, n.policy AS policy,
       EXISTS { (n)-[:SUMS*0..1]->()-[:FROM]->(x:Source) WHERE x.kind = 'message' } AS message, COUNT { (n)-[:FROM]->() } - 1 AS restated,
       COUNT { (n)-[:SUMS]->(m) WHERE NOT EXISTS { (m)-[:SUMS]->() } } AS sums,
       [n.policy, n.policy_as, n.apart, n.speaker, n.role, n.expires_at.epochMillis, n.erase_at.epochMillis,
        reduce(origin = '', one IN COLLECT { MATCH (n)-[:SUMS*0..1]->()-[:FROM]->(x:Source) WITH DISTINCT coalesce(x.trust_as, x.kind) AS of RETURN of ORDER BY of } | origin + one + ' ')] AS alike
ORDER BY n.said_at, n.seq, id
