// Which of some names are keywords that a note carries.
// $scope: string    the scope
// $names: list<string>    the names
// returns name
UNWIND $names AS name
MATCH (k:Keyword {scope: $scope, name: name})
RETURN name
