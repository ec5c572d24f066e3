// The topics of a scope, the largest first.
// $scope: string    the scope
// returns id, label, size, keywords
MATCH (t:Topic {scope: $scope}) WHERE t.id >= ''
RETURN t.id AS id, t.label AS label, t.size AS size, t.keywords AS keywords
ORDER BY size DESC, label, id
