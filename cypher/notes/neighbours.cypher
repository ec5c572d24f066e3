// What stands before and after a note in its conversation: the turn before each of its sources, and the
// readable notes whose context repeats one of them.
// $scope: string    the scope
// $note: string    id of the note
// $statuses: list<string>    of notes that can be read
// returns previous [source], followers [{source, note}]
MATCH (n:Note {scope: $scope, id: $note})
RETURN COLLECT {
         MATCH (n)-[:FROM]->(:Source)<-[:NEXT]-(p:Source)<-[:FROM]-(b:Note)
         WHERE b.status IN $statuses
         RETURN p {.*, said_at: p.said_at.epochMillis}
       } AS previous,
       COLLECT {
         MATCH (n)-[:FROM]->(:Source)-[:NEXT]->(y:Source)<-[:FROM]-(f:Note)
         WHERE f.status IN $statuses AND f <> n
         RETURN {source: y {.*, said_at: y.said_at.epochMillis}, note: f {.id, .context, .context_terms}}
       } AS followers
