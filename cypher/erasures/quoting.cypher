// The contexts of sessions, in any version, that quote a turn, and those that a chat model wrote, which may quote any.
// $scope: string    the scope
// $sessions: list<string>    the sessions
// returns note (id), context (null where a model wrote it)
CALL () {
  UNWIND $sessions AS session
  MATCH (y:Source {scope: $scope, session: session}) WHERE y.seq >= 0
  RETURN y
  UNION
  MATCH (y:PastSource {scope: $scope}) WHERE y.id >= '' AND y.session IN $sessions
  RETURN y
}
MATCH (y)<-[:FROM]-()<-[:SUMS*0..1]-(v:Note|Past)
WITH DISTINCT v, NOT coalesce(v.constructed_by, '') IN ['', 'user', 'extract'] AS modelled
WHERE modelled OR v.context CONTAINS '[before:'
RETURN v.id AS note, CASE WHEN modelled THEN null ELSE v.context END AS context
