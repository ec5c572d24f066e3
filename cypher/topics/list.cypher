// The topics of a scope as they are now, the largest first.
// $scope: string    the scope
// returns id, label, size, keywords, labelled_by, labelled_from
MATCH (t:Topic {scope: $scope}) WHERE t.id >= ''
RETURN t.id AS id, t.label AS label, COUNT { (t)<-[:IN_TOPIC]-() } AS size, t.keywords AS keywords,
       coalesce(t.labelled_by, '') AS labelled_by, coalesce(t.labelled_from, []) AS labelled_from
ORDER BY size DESC, label, id
