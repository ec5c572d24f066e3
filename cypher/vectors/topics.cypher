// The topics of a scope that have a vector of another set and lack that of this one.
// $scope: string    the scope
// $found: string    name of the other set's vectors
// returns id, run: the last that looked for topics
OPTIONAL MATCH (s:Scope {scope: $scope})
MATCH (t:Topic {scope: $scope}) WHERE t.id > '' AND t[$found] IS NOT NULL AND t.embedding IS NULL
RETURN t.id AS id, coalesce(s.topics_run, '') AS run
