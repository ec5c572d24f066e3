// The keywords of notes.
// $scope: string    the scope
// $notes: list<string>    ids of the notes
// returns note, names
UNWIND $notes AS id
MATCH (n:Note {scope: $scope, id: id})
RETURN id AS note, COLLECT { MATCH (n)-[:HAS_KEYWORD]->(k:Keyword) RETURN k.name ORDER BY k.name } AS names
