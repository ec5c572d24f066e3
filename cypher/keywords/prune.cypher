// Remove keywords that no note carries any more.
// $scope: string    the scope
// $names: list<string>    those that notes just lost
UNWIND $names AS name
MATCH (k:Keyword {scope: $scope, name: name})
WHERE NOT EXISTS { (k)<-[:HAS_KEYWORD]-(:Note) }
DETACH DELETE k
