// The notes that an erasure of sources concerns: those that tell one of them in any version, or sum what does, and those whose context may quote one,
// being the turn after it, or by its words, or since a chat model wrote it of the same session.
// $scope: string    the scope
// $ids: list<string>    the sources
// $sessions: list<string>    of these sources, without ''
// $quotes: list<string>    beginnings of quotes of these sources
// returns id, told (a version tells one of the sources), kept (another source tells it too)
CALL () {
  UNWIND $ids AS id
  MATCH (:Source|PastSource {scope: $scope, id: id})<-[:FROM]-()<-[:SUMS*0..1]-(v:Note|Past)
  RETURN v.id AS note, true AS told
  UNION
  UNWIND $ids AS id
  MATCH (:Source {scope: $scope, id: id})-[:NEXT]->(:Source)<-[:FROM]-(v:Note)
  RETURN v.id AS note, false AS told
  UNION
  UNWIND $sessions AS session
  MATCH (y:Source {scope: $scope, session: session}) WHERE y.seq >= 0
  MATCH (y)<-[:FROM]-()<-[:SUMS*0..1]-(v:Note|Past)
  WHERE NOT coalesce(v.constructed_by, '') IN ['', 'user', 'extract'] OR any(quote IN $quotes WHERE v.context CONTAINS quote)
  RETURN v.id AS note, false AS told
  UNION
  MATCH (x:PastSource {scope: $scope}) WHERE x.id >= '' AND x.session IN $sessions
  MATCH (x)<-[:FROM]-()<-[:SUMS*0..1]-(v:Note|Past)
  WHERE NOT coalesce(v.constructed_by, '') IN ['', 'user', 'extract'] OR any(quote IN $quotes WHERE v.context CONTAINS quote)
  RETURN v.id AS note, false AS told
}
WITH note, max(told) AS told
RETURN note AS id, told,
       EXISTS { MATCH (:Note {scope: $scope, id: note})-[:SUMS*0..1]->()-[:FROM]->(x:Source) WHERE NOT x.id IN $ids } AS kept
ORDER BY id
