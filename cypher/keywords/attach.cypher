// Give notes their keywords.
// $scope: string    the scope
// $rows: list<map>    {note, name}
UNWIND $rows AS row
MATCH (n:Note {scope: $scope, id: row.note})
MATCH (k:Keyword {scope: $scope, name: row.name})
MERGE (n)-[:HAS_KEYWORD]->(k)
