// The scope's version, language, how many runs over claims it has had that read anything, and when the last one began; no row for no
// such scope.
// $scope: string    the scope
// returns version, language, cycle, begun [ms] or null, store [schema that writers must know, set of vectors, catalogue]
MATCH (s:Scope {scope: $scope})
RETURN s.version AS version, s.language AS language, coalesce(s.claims_cycle, 0) AS cycle, s.claims_at.epochMillis AS begun,
       head(COLLECT { MATCH (x:Store {name: 'store'}) RETURN [coalesce(x.upgrading, x.schema), coalesce(x.vectors, 1), x.catalogue] }) AS store
