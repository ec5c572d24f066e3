// The notes that an erasure of sources concerns: those that tell one of them in any version, or sum what does, those of the turn after it, and those
// known to quote one.
// $scope: string    the scope
// $ids: list<string>    the sources
// $quoting: list<string>    the notes whose context may quote one of them
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
  UNWIND $quoting AS note
  RETURN note, false AS told
}
WITH note, max(told) AS told
RETURN note AS id, told,
       EXISTS { MATCH (:Note {scope: $scope, id: note})-[:SUMS*0..1]->()-[:FROM]->(x:Source) WHERE NOT x.id IN $ids } AS kept
ORDER BY id
