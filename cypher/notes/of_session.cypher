// The notes of some classes that can be read, and that a session alone tells.
// $scope: string    the scope
// $session: string    the session
// $policies: list<string>    the classes
// $statuses: list<string>    of notes that can be read
// $alive: datetime    the present: what ends by then can't be read
// returns id
MATCH (x:Source {scope: $scope, session: $session}) WHERE x.seq >= 0
MATCH (x)<-[:FROM]-()<-[:SUMS*0..1]-(n:Note) WHERE n.policy IN $policies AND NOT n.pinned AND n.status IN $statuses AND n.expires_at > $alive
  AND NOT EXISTS { (n)-[:SUMS*0..1]->()-[:FROM]->(y:Source) WHERE y.session <> $session }
RETURN DISTINCT n.id AS id ORDER BY id
