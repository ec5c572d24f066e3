// The topics of a scope as the last run wrote them: what has come and gone since shows by another size.
// $scope: string    the scope
// returns id, label, size, keywords, labelled_by, labelled_from
MATCH (t:Topic {scope: $scope}) WHERE t.id >= ''
RETURN t.id AS id, t.label AS label, t.size AS size, t.keywords AS keywords,
       coalesce(t.labelled_by, '') AS labelled_by, coalesce(t.labelled_from, []) AS labelled_from
ORDER BY id
