// Take all keywords from notes.
// $scope: string    the scope
// $notes: list<string>    ids of the notes
UNWIND $notes AS id
MATCH (n:Note {scope: $scope, id: id})-[r:HAS_KEYWORD]->(:Keyword)
DELETE r
