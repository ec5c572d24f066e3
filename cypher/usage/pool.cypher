// What a search weighs of notes beside their words: their classes, and how a reader has used them.
// $scope: string    the reader's
// $scopes: list<string>    those that it reads
// $ids: list<string>    the notes
// returns id, policy, created [ms], message (whether a message tells it), restated: by how many sources beside the first, usage {shown, used, utility, scored_at, last_shown, last_used} (times in ms)
//   or null where it was never counted
UNWIND $ids AS id
MATCH (n:Note {id: id}) WHERE n.scope IN $scopes
OPTIONAL MATCH (u:Usage {scope: $scope, id: id})
RETURN id, n.policy AS policy, n.created_at.epochMillis AS created, EXISTS { (n)-[:FROM]->(x:Source) WHERE x.kind = 'message' } AS message, COUNT { (n)-[:FROM]->() } - 1 AS restated,
       CASE WHEN u IS NOT NULL THEN u {.shown, .used, .utility, scored_at: u.scored_at.epochMillis, last_shown: u.last_shown.epochMillis,
                                       last_used: u.last_used.epochMillis} END AS usage
