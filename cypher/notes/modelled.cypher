// The notes of some sessions, in whatever state, whose context a chat model wrote: it may hold words of other turns that it was shown.
// $scope: string    the scope
// $sessions: list<string>    the sessions, without ''
// $user: string    who wrote a context that no model did
// $alive: datetime    the present: what is to be erased by then is gone
// returns id
UNWIND $sessions AS session
MATCH (x:Source {scope: $scope, session: session}) WHERE x.seq >= 0
MATCH (x)<-[:FROM]-(n:Note) WHERE n.erase_at > $alive AND NOT coalesce(n.constructed_by, '') IN ['', $user]
RETURN DISTINCT n.id AS id ORDER BY id
