// Put keywords without a topic into the one that they occur with most, where the last run's bound leaves room for them.
// $scope: string    the scope
// $names: list<string>    the keywords
MATCH (s:Scope {scope: $scope}) WHERE s.topics_most IS NOT NULL
WITH s.topics_most AS most
UNWIND $names AS name
// use topics/join_best
