// The vectors of keywords.
// $scope: string    the scope
// $names: list<string>    the keywords
// returns name, vector
UNWIND $names AS name
MATCH (k:Keyword {scope: $scope, name: name})
RETURN name, coalesce(k.embedding, k.resting) AS vector
