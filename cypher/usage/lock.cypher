// Lock how a reader has used some notes, and tell it. There is no row of a note that can't be read any more, nor for a reader without
// a memory of his own: an erasure finds what is counted of him by that.
// $scope: string    the reader's
// $scopes: list<string>    those that it reads
// $ids: list<string>    the notes
// $alive: datetime    the present: what ends by then can't be read
// returns id, usage {shown, used, utility, scored_at, last_shown, last_used} (times in ms), nothing of it where it was never counted
MATCH (:Scope {scope: $scope})
UNWIND $ids AS id
MATCH (n:Note {id: id}) WHERE n.scope IN $scopes AND n.expires_at > $alive
MERGE (u:Usage {scope: $scope, id: id})
SET u.lock = true
RETURN id, u {.shown, .used, .utility, scored_at: u.scored_at.epochMillis, last_shown: u.last_shown.epochMillis,
              last_used: u.last_used.epochMillis} AS usage
