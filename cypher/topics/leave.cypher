// Take keywords out of their topics.
// $scope: string    the scope
// $names: list<string>    the keywords
UNWIND $names AS name
MATCH (:Keyword {scope: $scope, name: name})-[r:IN_TOPIC]->(:Topic)
DELETE r
