// The scope's version, its last run over blocks, and the version that this run read; no row for no such scope.
// $scope: string    the scope
// returns version, run ('' for none), read (0 for none), store [schema that writers must know, set of vectors, catalogue]
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, coalesce(s.blocks_run, '') AS run, coalesce(s.blocks_version, 0) AS read,
       head(COLLECT { MATCH (x:Store {name: 'store'}) RETURN [coalesce(x.upgrading, x.schema), coalesce(x.vectors, 1), x.catalogue] }) AS store
