// How a reader has used some notes; no row for those that were never counted.
// $scope: string    the reader's
// $ids: list<string>    the notes
// returns id, usage {shown, used, utility, scored_at, last_shown, last_used} (times in ms)
UNWIND $ids AS id
MATCH (u:Usage {scope: $scope, id: id})
RETURN id, u {.shown, .used, .utility, scored_at: u.scored_at.epochMillis, last_shown: u.last_shown.epochMillis,
              last_used: u.last_used.epochMillis} AS usage
