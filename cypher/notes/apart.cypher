// Which of some notes are kept apart.
// $scope: string    the scope
// $ids: list<string>    the notes
// returns id
UNWIND $ids AS id
MATCH (n:Note {scope: $scope, id: id}) WHERE n.apart IS NOT NULL
RETURN id
