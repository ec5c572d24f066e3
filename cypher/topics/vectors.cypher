// The vectors of keywords.
// $scope: string    the scope
// $names: list<string>    the keywords
// returns name, vector
UNWIND $names AS name
MATCH (k:Keyword {scope: $scope, name: name}) WHERE k.embedding IS NOT NULL
RETURN name, k.embedding AS vector
