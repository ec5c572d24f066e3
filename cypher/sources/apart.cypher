// The classes with which turns of some sessions are kept apart, but for some of these turns.
// $scope: string    the scope
// $sessions: list<string>    the sessions, without ''
// $without: list<string>    the sources that don't count
// returns session, classes
UNWIND $sessions AS session
MATCH (x:Source {scope: $scope, session: session}) WHERE x.seq >= 0 AND x.apart IS NOT NULL AND NOT x.id IN $without
RETURN session, collect(DISTINCT x.apart) AS classes
