// Lock how a reader has used some notes, and tell it. Of a note that can't be read any more there is no row.
// $scope: string    the reader's
// $scopes: list<string>    those that it reads
// $ids: list<string>    the notes
// $alive: datetime    the present: what ends by then can't be read
// returns id, usage {shown, used, utility, scored_at, last_shown, last_used} (times in ms), nothing of it where it was never counted
UNWIND $ids AS id
MATCH (n:Note {id: id}) WHERE n.scope IN $scopes AND n.expires_at > $alive
MERGE (u:Usage {scope: $scope, id: id})
SET u.lock = true
RETURN id, u {.shown, .used, .utility, scored_at: u.scored_at.epochMillis, last_shown: u.last_shown.epochMillis,
              last_used: u.last_used.epochMillis} AS usage
