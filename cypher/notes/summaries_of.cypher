// The summaries that stand for some notes, in whatever state.
// $scope: string    the scope
// $ids: list<string>    the notes
// returns id
UNWIND $ids AS id
MATCH (:Note {scope: $scope, id: id})<-[:SUMS]-(s:Note)
RETURN DISTINCT s.id AS id ORDER BY id
