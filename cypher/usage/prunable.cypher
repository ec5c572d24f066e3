// The notes of a memory that may be archived for being of little use, with what tells it; no items.
// $scope: string    the scope, whose own use counts
// $before: datetime    until when a note must have been created
// $alive: datetime    the present: what ends by then is the sweep's
// returns id, policy, created [ms], message (whether a message tells it), usage {shown, used, utility, scored_at, last_shown, last_used} (times in ms)
//   or null where it was never counted
MATCH (n:Note {scope: $scope, status: 'active'}) WHERE n.expires_at > $alive AND n.created_at < $before AND NOT n.pinned
  AND NOT EXISTS { (n)-[:FROM]->(x:Source) WHERE x.kind = 'item' }
OPTIONAL MATCH (u:Usage {scope: $scope, id: n.id})
RETURN n.id AS id, n.policy AS policy, n.created_at.epochMillis AS created,
       EXISTS { (n)-[:FROM]->(x:Source) WHERE x.kind = 'message' } AS message,
       CASE WHEN u IS NOT NULL THEN u {.shown, .used, .utility, scored_at: u.scored_at.epochMillis, last_shown: u.last_shown.epochMillis,
                                       last_used: u.last_used.epochMillis} END AS usage
