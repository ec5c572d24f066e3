// The scope's version, its last run, and what came since that one read: writes, and notes; no row for no such scope.
// $scope: string    the scope
// returns version, run, changed_since, notes_since, store [schema that writers must know, set of vectors, catalogue]
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, coalesce(s.topics_run, '') AS run, s.changed_since AS changed_since,
       coalesce(s.notes_since, 0) AS notes_since,
       head(COLLECT { MATCH (x:Store {name: 'store'}) RETURN [coalesce(x.upgrading, x.schema), coalesce(x.vectors, 1), x.catalogue] }) AS store
